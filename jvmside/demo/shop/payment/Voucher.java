package shop.payment;

import shop.orders.Order;

/** Pays for small orders only. */
public final class Voucher extends Payment {
    private final long worth;

    public Voucher(long worth) {
        this.worth = worth;
    }

    @Override
    void authorize(Order order, long cents) throws DeclinedException {
        check(cents);
    }

    private void check(long cents) throws DeclinedException {
        if (cents > worth) {
            throw new DeclinedException("voucher is worth less");
        }
    }
}
