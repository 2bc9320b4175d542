package shop.orders;

import java.util.Collections;
import java.util.List;
import shop.payment.Payment;

/** What a customer wants. */
public final class Order {
    private final long id;
    private final Customer customer;
    private final List<OrderLine> lines;
    private final List<Payment> payments;
    private final boolean sale;

    Order(long id, Customer customer, List<OrderLine> lines, List<Payment> payments, boolean sale) {
        this.id = id;
        this.customer = customer;
        this.lines = Collections.unmodifiableList(lines);
        this.payments = payments;
        this.sale = sale;
    }

    public long id() {
        return id;
    }

    public Customer customer() {
        return customer;
    }

    public List<OrderLine> lines() {
        return lines;
    }

    /** Ways to pay, the preferred one first. */
    public List<Payment> payments() {
        return payments;
    }

    /** Whether the order was made in the flash sale, whoever has announced it. */
    public boolean inSale() {
        return sale;
    }
}
