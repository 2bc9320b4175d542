package shop.shipping;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** Distances by road, by Dijkstra's algorithm. */
final class Routes {
    private final Map<String, List<Road>> roads = new HashMap<>();

    Routes() {
        road("Vienna", "Prague", 330);
        road("Vienna", "Munich", 400);
        road("Vienna", "Graz", 200);
        road("Prague", "Dresden", 150);
        road("Dresden", "Berlin", 190);
        road("Munich", "Stuttgart", 230);
        road("Munich", "Nuremberg", 170);
        road("Nuremberg", "Berlin", 440);
        road("Nuremberg", "Prague", 300);
        road("Stuttgart", "Strasbourg", 150);
        road("Strasbourg", "Paris", 490);
        road("Berlin", "Hamburg", 290);
        road("Hamburg", "Copenhagen", 340);
        road("Paris", "Le Havre", 200);
        road("Hamburg", "Bremen", 120);
    }

    /** Kilometers between two cities, -1 if no road leads there. */
    int kilometers(String from, String to) {
        PriorityQueue<Stop> queue = new PriorityQueue<>(Comparator.comparingInt(Stop::kilometers));
        Map<String, Integer> settled = new HashMap<>();
        queue.add(new Stop(from, 0));
        while (!queue.isEmpty()) {
            Stop stop = queue.poll();
            if (settled.putIfAbsent(stop.city, stop.kilometers) != null) {
                continue;
            }
            if (stop.city.equals(to)) {
                return stop.kilometers;
            }
            for (Road road : roads.get(stop.city)) {
                queue.add(stop.along(road));
            }
        }
        return -1;
    }

    private void road(String a, String b, int kilometers) {
        for (String[] way : Arrays.asList(new String[] {a, b}, new String[] {b, a})) {
            roads.computeIfAbsent(way[0], city -> new ArrayList<>()).add(new Road(way[1], kilometers));
        }
    }

    private static final class Road {
        final String to;
        final int kilometers;

        Road(String to, int kilometers) {
            this.to = to;
            this.kilometers = kilometers;
        }
    }

    private static final class Stop {
        final String city;
        final int kilometers;

        Stop(String city, int kilometers) {
            this.city = city;
            this.kilometers = kilometers;
        }

        int kilometers() {
            return kilometers;
        }

        Stop along(Road road) {
            return new Stop(road.to, kilometers + road.kilometers);
        }
    }
}
