package shop.shipping;

final class Freight extends Shipment {
    private final int kilometers;
    private final int steps;

    Freight(int grams, int kilometers, int steps) {
        super(grams);
        this.kilometers = kilometers;
        this.steps = steps;
    }

    @Override
    public long cents() {
        return 2900 + grams() / 100 + kilometers + 5L * steps;
    }

    @Override
    public String label() {
        return "Freight, assembled in " + steps + " steps";
    }
}
