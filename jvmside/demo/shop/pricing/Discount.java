package shop.pricing;

import shop.orders.Order;

/** A reduction of an order's price. */
public interface Discount {
    /** Cents off the price before any discount. */
    long off(Order order, long cents);
}
