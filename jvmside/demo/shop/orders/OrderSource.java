package shop.orders;

import java.util.ArrayList;
import java.util.List;
import shop.catalog.Catalog;
import shop.payment.Account;
import shop.payment.Card;
import shop.payment.Payment;
import shop.payment.Voucher;

/** An endless stream of orders, the same in every run for the same number. */
public final class OrderSource {
    private static final String[] NAMES = {"Ada", "Barbara", "Edsger", "Grace", "Niklaus", "Tony"};
    private static final String[] COUNTRIES = {"AT", "CZ", "DE", "DK", "FR", "US"};

    private final Customer[] customers = new Customer[64];
    private long state;
    private long id;

    public OrderSource(int number) {
        state = 0x9E3779B97F4A7C15L * (number + 1);
        id = (long) number << 40;
        for (int i = 0; i < customers.length; i++) {
            customers[i] = new Customer(NAMES[i % NAMES.length] + " " + i, COUNTRIES[below(COUNTRIES.length)], below(12));
        }
    }

    public Order next(boolean sale) {
        List<OrderLine> lines = new ArrayList<>();
        for (int n = 1 + below(5); n > 0; n--) {
            lines.add(new OrderLine(Catalog.INSTANCE.product(below(Catalog.INSTANCE.size())), 1 + below(3)));
        }
        List<Payment> payments = new ArrayList<>(3);
        int way = below(100);
        if (way < 20) {
            payments.add(new Voucher(below(20_000)));
        }
        if (way < 85) {
            payments.add(new Card(4_000_000_000_000_000L + below(1 << 30)));
        }
        if (way > 3) {
            payments.add(new Account(below(250_000)));
        }
        return new Order(id++, customers[below(customers.length)], lines, payments, sale);
    }

    /** xorshift64: the same on every JDK, and no lock. */
    private int below(int limit) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return (int) ((state >>> 33) % limit);
    }
}
