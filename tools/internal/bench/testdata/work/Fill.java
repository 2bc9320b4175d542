package work;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Fills the heap. args: SHAPE MB
 *
 * records: a map of records with names, boxed numbers, parents and lists, which other collections have, too.
 * list: one linked list as long as there is room, whose values an array list has as well: chains of dominators as long
 * as the list.
 * Protocol: PID, READY, a line, DONE, a line.
 */
public final class Fill {
    static final class Node {
        final Node next;
        final Object value;

        Node(Node next, Object value) {
            this.next = next;
            this.value = value;
        }
    }

    static final class Rec {
        final String name;
        final Long id;
        final Rec parent;
        List<Object> items;
        double weight;

        Rec(String name, long id, Rec parent) {
            this.name = name;
            this.id = id;
            this.parent = parent;
        }
    }

    static final Map<String, Rec> map = new HashMap<>();
    static final List<Object> all = new ArrayList<>();
    static final List<Object> linked = new LinkedList<>();
    static Node head;

    private Fill() {}

    private static boolean full(long bytes) {
        Runtime r = Runtime.getRuntime();
        if (r.totalMemory() - r.freeMemory() < bytes) return false;
        System.gc();
        return r.totalMemory() - r.freeMemory() >= bytes;
    }

    private static void records(long bytes) {
        Random random = new Random(1);
        Rec last = null;
        for (int i = 0; i % 100_000 != 0 || !full(bytes); i++) {
            Rec rec = new Rec("name-" + i % 1_000_000, i, i % 7 == 0 ? last : null);
            last = rec;
            map.put("key" + i, rec);
            if (i % 3 == 0) {
                rec.items = new ArrayList<>();
                rec.items.add(i);
                rec.items.add(last);
            }
            if (i % 5 == 0) linked.add(rec);
            if (i % 4 == 0) head = new Node(head, rec);
            if (i % 11 == 0) all.add(new byte[random.nextInt(400)]);
        }
    }

    private static void list(long bytes) {
        for (int i = 0; i % 100_000 != 0 || !full(bytes); i++) {
            Long value = (long) i + 1000;
            head = new Node(head, value);
            all.add(value);
        }
    }

    public static void main(String[] a) throws Exception {
        long bytes = Long.parseLong(a[1]) << 20;
        if (a[0].equals("list")) {
            list(bytes);
        } else {
            records(bytes);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        System.out.println("READY");
        in.readLine();
        System.out.println("DONE");
        in.readLine();
    }
}
