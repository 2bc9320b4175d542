package shop.orders;

/** What the customer gets in return. */
public final class Receipt {
    private final long order;
    private final long total;
    private final String text;
    private final int signature;

    Receipt(long order, long total, String text, int signature) {
        this.order = order;
        this.total = total;
        this.text = text;
        this.signature = signature;
    }

    public String text() {
        return text;
    }

    @Override
    public int hashCode() {
        return (int) (order * 31 + total) * 31 + signature;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Receipt && ((Receipt) other).order == order && ((Receipt) other).signature == signature;
    }
}
