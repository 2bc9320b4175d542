package work;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A program whose load changes. args: SECONDS
 *
 * One thread serves requests of three kinds, in blocks of SECONDS of one kind: short methods by the thousand, a parser with
 * methods of middle length, and a matrix with few calls. For each half of a second it prints KIND, number and the requests a second of
 * its own processor time: what other programs take of the machine is no part of that. It begins when a line comes, prints READY
 * after two rounds, and goes on until standard input ends.
 */
public final class Changing {
    private static long sum;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Changing() {}

    public static void main(String[] args) throws Exception {
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        long block = Long.parseLong(args[0]) * 1_000_000_000L;
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) continue;
            } catch (java.io.IOException e) {
                // the end as well
            }
            System.exit(sum == 42 ? 1 : 0);
        });
        input.setDaemon(true);
        input.start();
        for (int round = 0; ; round++) {
            if (round == 6) System.out.println("READY");
            int kind = round % 3;
            long begin = System.nanoTime();
            for (long now = begin; now - begin < block; ) {
                long cpu = THREADS.getCurrentThreadCpuTime(), n = 0;
                for (long from = now; now - from < 500_000_000L; now = System.nanoTime(), n++) serve(kind, n);
                System.out.println("RATE " + kind + " " + n * 1e9 / (THREADS.getCurrentThreadCpuTime() - cpu));
            }
        }
    }

    static void serve(int kind, long n) {
        switch (kind) {
            case 0: sum += tiny((int) n); break;
            case 1: sum += parse((int) n); break;
            default: sum += matrix((int) n);
        }
    }

    // ---- short methods ----

    private static int tiny(int n) {
        int s = n;
        for (int i = 0; i < 2000; i++) s = mix(s, twist(i), even(s));
        return s;
    }

    private static int mix(int a, int b, boolean c) {
        return c ? add(a, b) : xor(a, b);
    }

    private static int twist(int i) {
        return i * 31 ^ i >>> 3;
    }

    private static boolean even(int s) {
        return (s & 1) == 0;
    }

    private static int add(int a, int b) {
        return a + b;
    }

    private static int xor(int a, int b) {
        return Integer.rotateLeft(a ^ b, 5);
    }

    // ---- a parser ----

    private static final String TEXT = "alpha = 12 + 3 * ( beta - 4 ) ; gamma = alpha * alpha / 7 ; delta = ( gamma + beta ) * 2 ; ";

    private static int parse(int n) {
        Map<String, Integer> values = new HashMap<>();
        values.put("beta", n);
        ArrayDeque<Integer> stack = new ArrayDeque<>();
        int count = 0;
        for (int i = 0; i < 20; i++) {
            int at = 0;
            while (at < TEXT.length()) {
                int end = TEXT.indexOf(' ', at);
                count += token(TEXT.substring(at, end), values, stack);
                at = end + 1;
            }
        }
        return count + stack.size();
    }

    private static int token(String t, Map<String, Integer> values, ArrayDeque<Integer> stack) {
        char c = t.charAt(0);
        if (isLetter(c)) return push(stack, lookup(values, t));
        if (c >= '0' && c <= '9') return push(stack, Integer.parseInt(t));
        return operator(c, stack);
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z';
    }

    private static int lookup(Map<String, Integer> values, String name) {
        return values.computeIfAbsent(name, k -> k.hashCode());
    }

    private static int push(ArrayDeque<Integer> stack, int v) {
        if (stack.size() > 50) stack.clear();
        stack.push(v);
        return 1;
    }

    private static int operator(char c, ArrayDeque<Integer> stack) {
        if (stack.size() < 2) return 0;
        int a = stack.pop(), b = stack.pop();
        switch (c) {
            case '+': return push(stack, a + b);
            case '-': return push(stack, b - a);
            case '*': return push(stack, a * b);
            default: return push(stack, a ^ b);
        }
    }

    // ---- few calls ----

    private static final double[][] A = new double[60][60], B = new double[60][60];

    static {
        for (int i = 0; i < 60; i++) {
            Arrays.fill(A[i], i + 0.5);
            Arrays.fill(B[i], 1.0 / (i + 1));
        }
    }

    private static int matrix(int n) {
        double s = 0;
        for (int i = 0; i < 60; i++) s += row(A[(i + n) % 60]);
        return (int) s;
    }

    private static double row(double[] a) {
        double s = 0;
        for (int k = 0; k < 60; k++) {
            for (int j = 0; j < 60; j++) s += a[j] * B[j][k];
        }
        return s;
    }
}
