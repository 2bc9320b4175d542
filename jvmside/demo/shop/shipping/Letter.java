package shop.shipping;

class Letter extends Shipment {
    Letter(int grams) {
        super(grams);
    }

    @Override
    public long cents() {
        return 180;
    }
}
