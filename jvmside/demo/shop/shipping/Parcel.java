package shop.shipping;

class Parcel extends Shipment {
    private final int kilometers;

    Parcel(int grams, int kilometers) {
        super(grams);
        this.kilometers = kilometers;
    }

    @Override
    public long cents() {
        return 490 + grams() / 1000 * 70L + kilometers / 10;
    }
}
