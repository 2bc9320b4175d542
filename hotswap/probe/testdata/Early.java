/** Statements before super(), for javac 22 and later. */
public class Early {
    static class Base { final int v; Base(int v) { Truth.hit("Base.<init>"); if (v == 12) throw new IllegalStateException("12"); this.v = v; } }
    static class D extends Base {
        final String s; int n;
        D(int a) {
            int sum = 0;
            for (int i = 0; i < a; i++) { sum += work(i); if (sum > 50) throw new IllegalArgumentException("big"); }
            String t;
            try { t = new StringBuilder().append(work(a)).toString(); if (a == 5) throw new RuntimeException(t); }
            catch (RuntimeException e) { t = "caught" + e.getMessage(); }
            s = t;
            Object o = switch (a) { case 0 -> new Object() { public String toString() { return "o"; } }; case 1 -> "one"; default -> new int[a]; };
            Runnable r = () -> work(3);
            r.run();
            super(sum + (o instanceof String ? 1 : 0));
            n = v + sum;
        }
    }
    static int work(int i) { Truth.hit("work"); return i * 2; }
    static String make(int i) { Truth.hit("make"); try { D d = new D(i); return d.s + d.n + d.v; } catch (RuntimeException e) { return e.getMessage(); } }
    public static void main(String[] args) {
        for (int i = 0; i < 20; i++) System.out.println(make(i));
        Truth.print();
    }
}
