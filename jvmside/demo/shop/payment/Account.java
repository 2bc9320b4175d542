package shop.payment;

import shop.orders.Order;

/** A bank account with a limit. */
public final class Account extends Payment {
    private final long limit;

    public Account(long limit) {
        this.limit = limit;
    }

    @Override
    void authorize(Order order, long cents) throws DeclinedException {
        if (cents > limit) {
            throw new DeclinedException("account has too little");
        }
    }
}
