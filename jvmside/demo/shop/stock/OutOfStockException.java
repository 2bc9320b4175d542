package shop.stock;

/** A product is not to be had. */
public final class OutOfStockException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutOfStockException(String message) {
        super(message);
    }
}
