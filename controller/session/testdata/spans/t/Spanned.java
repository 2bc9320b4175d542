package t;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;

/**
 * Root invocations, work(1) to work(TIMES), in spans and outside: in one where n % 4 is 0, in one with another in a callee (1), with
 * two in callees (2), without any, but with a context that has none (3). The n-th has trace id n and span id 100 * n; what is
 * below it 100 * n + 1, 2. "Spanned TIMES" waits for a line first; the API is not used before.
 */
public class Spanned {
    static int steps;

    static final class Made implements Context, Span, SpanContext {
        final long trace, id;

        Made(long trace, long id) {
            this.trace = trace;
            this.id = id;
        }

        @Override
        public Object span() {
            return id == 0 ? null : this;
        }

        @Override
        public SpanContext getSpanContext() {
            return this;
        }

        @Override
        public String getTraceId() {
            return String.format("fedcba9876543210%016x", trace);
        }

        @Override
        public String getSpanId() {
            return String.format("%016x", id);
        }
    }

    static void step() {
        steps++;
    }

    static void work(int n) {
        step();
        if (n % 4 == 3) new Made(n, 0).makeCurrent(Spanned::step);
        if (n % 4 == 1 || n % 4 == 2) new Made(n, 100 * n + 1).makeCurrent(Spanned::step);
        if (n % 4 == 2) new Made(n, 100 * n + 2).makeCurrent(Spanned::step);
        step();
    }

    public static void main(String[] a) throws Exception {
        final int times = Integer.parseInt(a[0]);
        System.out.println("READY");
        System.in.read();
        for (int i = 1; i <= times; i++) {
            final int n = i;
            if (n % 4 < 2) new Made(n, 100 * n).makeCurrent(() -> work(n));
            else work(n);
        }
        System.out.println("OK");
        while (System.in.read() != 'e') continue;
    }
}
