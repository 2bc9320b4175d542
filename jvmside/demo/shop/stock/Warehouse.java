package shop.stock;

import shop.catalog.Catalog;
import shop.orders.Order;
import shop.orders.OrderLine;

/** All shelves. */
public final class Warehouse {
    private final Shelf[] shelves = new Shelf[Catalog.INSTANCE.size()];

    public Warehouse() {
        for (int i = 0; i < shelves.length; i++) {
            shelves[i] = new Shelf(i % 67 == 66); // three of two hundred
        }
    }

    /** Takes every piece of the order, or none. */
    public void reserve(Order order) {
        int done = 0;
        try {
            for (OrderLine line : order.lines()) {
                take(line);
                done++;
            }
        } finally {
            if (done < order.lines().size()) {
                putBack(order, done);
            }
        }
    }

    /** Puts every piece of the order back. */
    public void release(Order order) {
        putBack(order, order.lines().size());
    }

    /** Pieces on all shelves. */
    public long pieces() {
        long sum = 0;
        for (Shelf shelf : shelves) {
            sum += shelf.pieces();
        }
        return sum;
    }

    private void take(OrderLine line) {
        Shelf shelf = shelves[line.product().number()];
        for (int i = 0; i < line.pieces(); i++) {
            shelf.take(line.product().name());
        }
    }

    private void putBack(Order order, int lines) {
        for (OrderLine line : order.lines().subList(0, lines)) {
            for (int i = 0; i < line.pieces(); i++) {
                shelves[line.product().number()].putBack();
            }
        }
    }
}
