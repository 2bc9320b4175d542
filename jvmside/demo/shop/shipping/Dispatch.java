package shop.shipping;

import java.util.HashMap;
import java.util.Map;
import shop.orders.Order;
import shop.orders.OrderLine;

/** Decides how an order travels. */
public final class Dispatch {
    private static final String HOME = "Vienna";

    private final Map<String, String> capitals = new HashMap<>();
    private final Routes routes = new Routes();

    public Dispatch() {
        capitals.put("AT", "Graz");
        capitals.put("CZ", "Prague");
        capitals.put("DE", "Berlin");
        capitals.put("DK", "Copenhagen");
        capitals.put("FR", "Paris");
        capitals.put("US", "Le Havre"); // by ship from there
    }

    public Shipment plan(Order order) {
        int grams = weigh(order);
        if (grams < 200) {
            return new Letter(grams);
        }
        if (grams > 8_000) {
            return new Freight(grams, distance(order), assembly(order));
        }
        return order.customer().years() > 8 ? new Express(grams, distance(order)) : new Parcel(grams, distance(order));
    }

    private int distance(Order order) {
        return routes.kilometers(HOME, capitals.get(order.customer().country()));
    }

    private static int weigh(Order order) {
        int grams = 0;
        for (OrderLine line : order.lines()) {
            grams += line.product().grams() * line.pieces();
        }
        return grams;
    }

    private static int assembly(Order order) {
        int steps = 0;
        for (OrderLine line : order.lines()) {
            steps += line.product().steps();
        }
        return steps;
    }
}
