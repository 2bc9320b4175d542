package shop.orders;

/** The order can't be fulfilled; the caller of the service has to tell the customer. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
