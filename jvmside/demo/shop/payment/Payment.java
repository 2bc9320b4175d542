package shop.payment;

import shop.orders.Order;

/** A way to pay. */
public abstract class Payment {
    /** Charges that many cents or throws. */
    final void charge(Order order, long cents) throws DeclinedException {
        authorize(order, cents);
    }

    abstract void authorize(Order order, long cents) throws DeclinedException;
}
