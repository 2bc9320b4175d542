package shop.pricing;

import shop.orders.Order;
import shop.orders.OrderLine;

/** Each third piece of a product costs half. */
final class Bulk implements Discount {
    @Override
    public long off(Order order, long cents) {
        long off = 0;
        for (OrderLine line : order.lines()) {
            off += line.pieces() / 3 * line.product().cents() / 2;
        }
        return off;
    }
}
