package shop.payment;

import shop.orders.Order;

/** Tries one way to pay after the other. */
public final class PaymentDesk {
    public void charge(Order order, long cents) throws DeclinedException {
        DeclinedException last = null;
        for (Payment payment : order.payments()) {
            try {
                payment.charge(order, cents); // a declined one passes through it
                return;
            } catch (DeclinedException e) {
                last = e;
            }
        }
        throw last != null ? last : new DeclinedException("no way to pay");
    }
}
