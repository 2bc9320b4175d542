package shop.pricing;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import shop.orders.Order;
import shop.orders.OrderLine;

/** Prices, discounts and taxes. */
public final class PriceList {
    private final Map<String, LongUnaryOperator> taxes = new HashMap<>();
    private final List<Discount> discounts = Arrays.asList(
            new None(), new Loyalty(), new Bulk(), new Best(Arrays.asList(new CategoryWeek("home"), new CategoryWeek("tools"))));

    public PriceList() {
        taxes.put("AT", cents -> cents / 5);
        taxes.put("CZ", cents -> cents * 21 / 100);
        taxes.put("DE", cents -> cents * 19 / 100);
        taxes.put("DK", cents -> cents / 4);
        taxes.put("FR", PriceList::french);
        taxes.put("US", cents -> 0);
    }

    /** The discount that takes most off. */
    public Discount bestFor(Order order, boolean sale) {
        long sum = sum(order);
        Discount best = discounts.get(0);
        long most = 0;
        for (Discount discount : discounts) {
            long off = discount.off(order, sum);
            if (off > most) {
                most = off;
                best = discount;
            }
        }
        if (sale && FlashSale.get().off(order, sum) > most) {
            return FlashSale.get();
        }
        return best;
    }

    /** What the goods cost, with tax. */
    public long total(Order order, Discount discount) {
        long sum = sum(order);
        long net = sum - discount.off(order, sum);
        return net + taxes.get(order.customer().country()).applyAsLong(net);
    }

    private static long sum(Order order) {
        return order.lines().stream().mapToLong(OrderLine::cents).sum();
    }

    private static long french(long cents) {
        return cents / 5 + 1;
    }
}
