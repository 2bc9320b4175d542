package shop.orders;

import shop.payment.DeclinedException;
import shop.payment.PaymentDesk;
import shop.pricing.Discount;
import shop.pricing.PriceList;
import shop.shipping.Dispatch;
import shop.shipping.Shipment;
import shop.stock.OutOfStockException;
import shop.stock.Warehouse;

/** Takes an order through price, stock, payment and shipping. */
public final class OrderService {
    private final FraudCheck fraud = new FraudCheck();
    private final PriceList prices = new PriceList();
    private final Warehouse warehouse = new Warehouse();
    private final PaymentDesk desk = new PaymentDesk();
    private final Dispatch dispatch = new Dispatch();
    private final Invoice invoice = new Invoice();
    private volatile boolean sale;

    /** The root to profile: called for each order, by every worker. */
    public Receipt process(Order order) throws RefusedException {
        validate(order);
        fraud.check(order.customer()); // what it throws passes through
        Discount discount = prices.bestFor(order, sale || order.inSale());
        long goods = prices.total(order, discount);
        try {
            warehouse.reserve(order);
        } catch (OutOfStockException e) {
            throw new RefusedException("not in stock: " + e.getMessage(), e);
        }
        boolean paid = false;
        try {
            Shipment shipment = dispatch.plan(order);
            long total = goods + shipment.cents();
            desk.charge(order, total);
            paid = true;
            return invoice.write(order, shipment, goods, total);
        } catch (DeclinedException e) {
            throw new RefusedException("payment declined: " + e.getMessage(), e);
        } finally {
            if (!paid) {
                warehouse.release(order);
            }
        }
    }

    /** From now on the flash sale's discount counts, whose class this loads. */
    public void beginSale() {
        sale = true;
    }

    /** Pieces left in the warehouse. */
    public long stock() {
        return warehouse.pieces();
    }

    private static void validate(Order order) {
        if (order.lines().isEmpty()) {
            throw new IllegalArgumentException("order " + order.id() + " is empty");
        }
        for (OrderLine line : order.lines()) {
            checkPieces(line);
        }
    }

    private static void checkPieces(OrderLine line) {
        if (line.pieces() < 1 || line.pieces() > 99) {
            throw new IllegalArgumentException("cannot order " + line.pieces() + " of " + line.product().name());
        }
    }
}
