package shop.pricing;

import shop.orders.Order;

/** One percent a year, ten at the most. */
final class Loyalty implements Discount {
    @Override
    public long off(Order order, long cents) {
        return cents * Math.min(10, order.customer().years()) / 100;
    }
}
