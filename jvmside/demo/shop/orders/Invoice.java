package shop.orders;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import shop.shipping.Shipment;

/** Writes the receipt. */
final class Invoice {
    private static final int ROUNDS = 100;
    private static final Comparator<OrderLine> BY_PRICE =
            Comparator.comparingLong(OrderLine::cents).reversed().thenComparing(line -> line.product().name());

    Receipt write(Order order, Shipment shipment, long goods, long total) {
        StringBuilder text = new StringBuilder(256);
        header(text, order);
        List<OrderLine> lines = new ArrayList<>(order.lines());
        lines.sort(BY_PRICE); // the JDK's sort calls back into our lambdas
        lines.forEach(line -> row(text, line));
        footer(text, shipment, goods, total);
        String finished = text.toString();
        return new Receipt(order.id(), total, finished, sign(finished));
    }

    private static void header(StringBuilder text, Order order) {
        text.append("Order ").append(order.id()).append(" for ").append(order.customer().name()).append('\n');
    }

    private static void row(StringBuilder text, OrderLine line) {
        text.append(line.pieces()).append(" x ").append(line.product().name()).append("  ");
        amount(text, line.cents());
        text.append('\n');
    }

    private static void footer(StringBuilder text, Shipment shipment, long goods, long total) {
        text.append("goods ");
        amount(text, goods);
        text.append(", ").append(shipment.label()).append(' ');
        amount(text, shipment.cents());
        text.append(", total ");
        amount(text, total);
        text.append('\n');
    }

    private static void amount(StringBuilder text, long cents) {
        text.append(cents / 100).append('.');
        if (cents % 100 < 10) {
            text.append('0');
        }
        text.append(cents % 100);
    }

    /** Each receipt is signed, so that nobody writes their own. */
    private static int sign(String text) {
        MessageDigest digest = sha256();
        byte[] hash = text.getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < ROUNDS; round++) {
            hash = digest.digest(hash);
        }
        return (hash[0] & 0xff) << 24 | (hash[1] & 0xff) << 16 | (hash[2] & 0xff) << 8 | hash[3] & 0xff;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every Java has it
        }
    }
}
