package shop;

import java.util.concurrent.atomic.AtomicLongArray;
import shop.orders.Order;
import shop.orders.OrderSource;
import shop.orders.OrderService;
import shop.orders.Receipt;
import shop.orders.RefusedException;

/** One thread that processes its own stream of orders. */
final class Worker extends Thread {
    volatile long processed;
    volatile long refused;
    volatile long checksum;

    private final int index;
    private final OrderService service;
    private final AtomicLongArray done;
    private final long limit;

    /** A limit of 0 means no limit. */
    Worker(int index, OrderService service, AtomicLongArray done, long limit) {
        super("worker-" + index);
        this.index = index;
        this.service = service;
        this.done = done;
        this.limit = limit;
    }

    @Override
    public void run() {
        OrderSource source = new OrderSource(index);
        long sum = 0;
        for (long n = 1; limit == 0 || n <= limit; n++) {
            Order order = source.next(limit > 0 && n > limit / 2);
            try {
                Receipt receipt = service.process(order);
                sum = sum * 31 + receipt.hashCode();
            } catch (RefusedException e) {
                refused++; // only this thread writes it
                sum = sum * 31 + e.getMessage().length();
            }
            processed = n;
            checksum = sum;
            done.lazySet(index, n);
        }
    }
}
