package shop.pricing;

import shop.orders.Order;

/** A third off: the class is loaded only when the sale begins. */
final class FlashSale implements Discount {
    private static final Discount INSTANCE = new FlashSale();

    static Discount get() {
        return INSTANCE;
    }

    @Override
    public long off(Order order, long cents) {
        return thirdOf(cents);
    }

    private static long thirdOf(long cents) {
        return cents / 3;
    }
}
