package shop.shipping;

/** How goods travel and what that costs. */
public abstract class Shipment {
    private final int grams;

    Shipment(int grams) {
        this.grams = grams;
    }

    public final int grams() {
        return grams;
    }

    public abstract long cents();

    public String label() {
        return getClass().getSimpleName();
    }
}
