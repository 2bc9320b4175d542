package shop.pricing;

import shop.orders.Order;
import shop.orders.OrderLine;

/** A fifth off everything in one category and the ones below it. */
final class CategoryWeek implements Discount {
    private final String category;

    CategoryWeek(String category) {
        this.category = category;
    }

    @Override
    public long off(Order order, long cents) {
        long off = 0;
        for (OrderLine line : order.lines()) {
            if (line.product().category().isIn(category)) {
                off += line.cents() / 5;
            }
        }
        return off;
    }
}
