package shop.catalog;

/** Something that a product is made of: a piece of material, or an assembly of parts. */
public interface Part {
    int grams();

    /** How many steps it takes to make it. */
    default int steps() {
        return 1;
    }
}
