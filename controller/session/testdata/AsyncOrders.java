package shop;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The shop's servlet with asynchronous steps after an order: its lines are packed by a task of a pool, from the same
 * database; its invoice is written by a stage of a CompletableFuture, and then sent by another. Nobody waits for any.
 * "/done" waits until all steps are done and answers with the numbers of orders, and of orders whose lines were all
 * there, and with the time that orders waited to be packed, in ns.
 */
public class AsyncOrders extends FrontController {
    private final ExecutorService packers = Executors.newFixedThreadPool(2), writers = Executors.newFixedThreadPool(2);
    private final AtomicInteger orders = new AtomicInteger(), packed = new AtomicInteger(), sent = new AtomicInteger(), right = new AtomicInteger();
    private final AtomicLong queued = new AtomicLong();

    @Override
    protected void service(HttpServletRequest q, HttpServletResponse r) throws ServletException, IOException {
        if ("/done".equals(q.getPathInfo())) {
            done(r);
            return;
        }
        super.service(q, r);
        int[] order = (int[]) q.getAttribute("order"); // number, lines, total
        if (order != null && order[0] > 0) {
            orders.incrementAndGet();
            ship(order);
            invoice(order);
        }
    }

    void ship(int[] order) {
        long since = System.nanoTime();
        packers.execute(() -> pack(order, since));
    }

    void invoice(int[] order) {
        CompletableFuture.supplyAsync(() -> write(order), writers).thenAcceptAsync(text -> send(text), writers);
    }

    void pack(int[] order, long since) {
        queued.addAndGet(System.nanoTime() - since);
        try (Connection c = DriverManager.getConnection("jdbc:h2:mem:petshop");
                PreparedStatement p = c.prepareStatement("select count(*) from line where ord = ?")) {
            p.setInt(1, order[0]);
            try (ResultSet lines = p.executeQuery()) {
                if (lines.next() && lines.getInt(1) == order[1]) right.incrementAndGet();
            }
            Thread.sleep(2); // so that orders queue, with two packers
        } catch (SQLException | InterruptedException e) {
            e.printStackTrace();
        }
        packed.incrementAndGet();
    }

    String write(int[] order) {
        return "order " + order[0] + ": " + order[2];
    }

    void send(String text) {
        sent.incrementAndGet();
    }

    private void done(HttpServletResponse r) throws IOException {
        try {
            while (packed.get() < orders.get() || sent.get() < orders.get()) Thread.sleep(5);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        r.getWriter().print(orders + " " + right + " " + queued);
    }
}
