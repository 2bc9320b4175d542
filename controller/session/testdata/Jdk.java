package t;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Works with the JDK's collections, and counts what it does. "READY", then after a line "DONE": the same work. */
public class Jdk {
    static long compares, hashes, equals, maps;

    static final class Key implements Comparable<Key> {
        final int k;

        Key(int k) {
            this.k = k;
        }

        @Override
        public int hashCode() {
            hashes++;
            return k * 31;
        }

        @Override
        public boolean equals(Object o) {
            equals++;
            return o instanceof Key && ((Key) o).k == k;
        }

        @Override
        public int compareTo(Key o) {
            compares++;
            return Integer.compare(k, o.k);
        }
    }

    static int twice(Key k) {
        maps++;
        return 2 * k.k;
    }

    /** Links again what was linked anew by a redefinition: the JDK works for that, too. */
    static long warm() {
        return work(0);
    }

    static long root(int n) {
        return work(n);
    }

    static long work(int n) {
        Random random = new Random(n);
        List<Key> list = new ArrayList<>();
        for (int i = 0; i < 60; i++) list.add(new Key(random.nextInt(1000)));
        Collections.sort(list);
        list.sort(Comparator.comparing(k -> -k.k));
        Map<Key, Integer> map = new HashMap<>();
        for (Key k : list) map.put(k, k.k);
        for (Key k : list) if (map.get(k) != k.k) throw new IllegalStateException();
        TreeMap<Key, String> tree = new TreeMap<>();
        for (Key k : list) tree.put(k, "x");
        PriorityQueue<Key> queue = new PriorityQueue<>(list);
        long sum = 0;
        while (!queue.isEmpty()) sum = 31 * sum + queue.poll().k;
        List<Integer> doubled = list.stream().filter(k -> k.k % 2 == 0).map(Jdk::twice).sorted().collect(Collectors.toList());
        sum += doubled.hashCode() + new HashSet<>(doubled).size() + tree.size();
        sum += Arrays.asList(Pattern.compile(",").split("a,b,c,d")).size();
        return sum;
    }

    public static void main(String[] a) throws Exception {
        int times = Integer.parseInt(a[0]);
        long sum = 0;
        for (int i = 0; i < 20; i++) sum += root(i); // all is loaded and linked
        System.out.println("READY");
        for (;;) {
            for (int c; (c = System.in.read()) != '\n'; ) if (c < 0) return;
            warm();
            compares = hashes = equals = maps = 0;
            for (int i = 0; i < times; i++) sum += root(i);
            System.out.println("COMPARES " + compares);
            System.out.println("HASHES " + hashes);
            System.out.println("EQUALS " + equals);
            System.out.println("MAPS " + maps);
            System.out.println("DONE " + sum);
        }
    }
}
