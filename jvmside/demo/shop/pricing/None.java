package shop.pricing;

import shop.orders.Order;

final class None implements Discount {
    @Override
    public long off(Order order, long cents) {
        return 0;
    }
}
