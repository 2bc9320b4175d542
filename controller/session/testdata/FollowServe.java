package t;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import shop.orders.*;

/**
 * A server that takes orders of the demo shop, each on a thread of an executor; where there are virtual threads, on one
 * of its own. While an order is processed its customer is looked up by another task; the mail is written by a third, for
 * which nobody waits, and which hands the archiving over.
 */
public class FollowServe {
    static final OrderService service = new OrderService();
    static final OrderSource source = new OrderSource(0);
    static final AtomicInteger receipts = new AtomicInteger(), refused = new AtomicInteger(), archived = new AtomicInteger();
    static ExecutorService workers, steps;

    static ExecutorService executor() throws Exception {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) {
            return Executors.newFixedThreadPool(8);
        }
    }

    static synchronized Order next() {
        return source.next(false);
    }

    /** The root. */
    static String handle() throws Exception {
        Order o = next();
        Future<String> customer = lookUp(o);
        String answer;
        try {
            Receipt r = service.process(o);
            receipts.incrementAndGet();
            later(r);
            answer = "receipt";
        } catch (RefusedException e) {
            refused.incrementAndGet();
            answer = "refused";
        }
        return answer + " " + customer.get();
    }

    static Future<String> lookUp(Order o) {
        return steps.submit(() -> customer(o));
    }

    static String customer(Order o) throws InterruptedException {
        Thread.sleep(1);
        return o.customer().toString();
    }

    static void later(Receipt r) {
        CompletableFuture.runAsync(() -> mail(r), steps);
    }

    static void mail(Receipt r) {
        steps.execute(() -> archive(r));
    }

    static void archive(Receipt r) {
        archived.incrementAndGet();
    }

    static void answer(HttpExchange x, String text) throws IOException {
        byte[] b = text.getBytes("UTF-8");
        x.sendResponseHeaders(200, b.length);
        x.getResponseBody().write(b);
        x.close();
    }

    static String done() throws InterruptedException {
        while (archived.get() < receipts.get()) Thread.sleep(1);
        return receipts.get() + " " + refused.get();
    }

    public static void main(String[] args) throws Exception {
        workers = executor();
        steps = executor();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 64);
        server.setExecutor(workers);
        server.createContext("/order", x -> {
            try {
                answer(x, handle());
            } catch (Exception e) {
                throw new IOException(e);
            }
        });
        server.createContext("/done", x -> {
            try {
                answer(x, done());
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        });
        server.start();
        System.out.println("READY");
        System.out.println("PORT " + server.getAddress().getPort());
        while (System.in.read() >= 0) { }
        System.exit(0);
    }
}
