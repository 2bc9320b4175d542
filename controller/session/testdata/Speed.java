package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Three kinds of work, each timed on command: recursion, maps and strings, and the JDK's own compiler. */
public class Speed {
    interface Work {
        void once();
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static void words() {
        Random r = new Random(7);
        Map<String, Integer> m = new HashMap<>();
        for (int i = 0; i < 20000; i++) count(m, word(r.nextInt(500)));
        String[] all = m.keySet().toArray(new String[0]);
        Arrays.sort(all, Speed::order);
        if (m.size() != 500) throw new AssertionError(all[0]);
    }

    static String word(int n) {
        return "word" + n;
    }

    static void count(Map<String, Integer> m, String w) {
        Integer n = m.get(w);
        m.put(w, n == null ? 1 : n + 1);
    }

    static int order(String a, String b) {
        return a.compareTo(b);
    }

    static void compile(final String text) {
        JavaCompiler c = ToolProvider.getSystemJavaCompiler();
        SimpleJavaFileObject src = new SimpleJavaFileObject(URI.create("string:///Much.java"), javax.tools.JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignore) {
                return text;
            }
        };
        String dir = System.getProperty("java.io.tmpdir");
        if (!c.getTask(null, null, null, Arrays.asList("-proc:none", "-d", dir), null, Arrays.asList(src)).call()) throw new AssertionError();
    }

    static String source() {
        StringBuilder b = new StringBuilder("class Much {\n");
        for (int i = 0; i < 60; i++) b.append("int m").append(i).append("(int a) { int s = 0; for (int i = 0; i < a; i++) s += i % 7 == 0 ? a : i; return s; }\n");
        return b.append("}\n").toString();
    }

    public static void main(String[] a) throws Exception {
        final String text = source();
        Work w;
        int times;
        switch (a[0]) {
            case "fib":
                times = 200;
                w = new Work() {
                    @Override
                    public void once() {
                        fib(22);
                    }
                };
                break;
            case "words":
                times = 200;
                w = new Work() {
                    @Override
                    public void once() {
                        words();
                    }
                };
                break;
            default:
                times = 25;
                w = new Work() {
                    @Override
                    public void once() {
                        compile(text);
                    }
                };
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            long best = Long.MAX_VALUE;
            for (int i = 0; i < times; i++) {
                long from = System.nanoTime();
                w.once();
                best = Math.min(best, System.nanoTime() - from);
            }
            System.out.println("SPEED " + best);
        }
    }
}
