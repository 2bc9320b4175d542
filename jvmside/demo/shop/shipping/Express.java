package shop.shipping;

/** A parcel that is there tomorrow. */
final class Express extends Parcel {
    Express(int grams, int kilometers) {
        super(grams, kilometers);
    }

    @Override
    public long cents() {
        return super.cents() + 900;
    }
}
