package shop.stock;

/** The pieces of one product, shared by all workers. */
final class Shelf {
    private static final int FULL = 1000;

    private final boolean discontinued;
    private long taken;
    private long returned;
    private long delivered = FULL;

    Shelf(boolean discontinued) {
        this.discontinued = discontinued;
    }

    /**
     * Takes one piece. Whether it succeeds depends on the product alone, and
     * how often the shelf is refilled on how often it is called, never on what
     * other threads do in between: every run makes the same calls.
     */
    synchronized void take(String name) {
        if (discontinued) {
            throw new OutOfStockException(name);
        }
        if (++taken % FULL == 0) {
            refill();
        }
    }

    synchronized void putBack() {
        returned++;
    }

    /** Pieces on the shelf now. */
    synchronized long pieces() {
        return delivered - taken + returned;
    }

    private void refill() {
        delivered += FULL;
    }
}
