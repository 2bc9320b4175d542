package shop.catalog;

/** A part that has no parts. */
final class Piece implements Part {
    private final int grams;

    Piece(int grams) {
        this.grams = grams;
    }

    @Override
    public int grams() {
        return grams;
    }
}
