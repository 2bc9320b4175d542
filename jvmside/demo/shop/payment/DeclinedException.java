package shop.payment;

/** A payment did not go through. */
public final class DeclinedException extends Exception {
    private static final long serialVersionUID = 1;

    DeclinedException(String message) {
        super(message);
    }
}
