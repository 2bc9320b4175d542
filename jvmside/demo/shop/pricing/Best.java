package shop.pricing;

import java.util.List;
import shop.orders.Order;

/** The best of several: a discount made of discounts. */
final class Best implements Discount {
    private final List<Discount> choices;

    Best(List<Discount> choices) {
        this.choices = choices;
    }

    @Override
    public long off(Order order, long cents) {
        long best = 0;
        for (Discount choice : choices) {
            best = Math.max(best, choice.off(order, cents));
        }
        return best;
    }
}
