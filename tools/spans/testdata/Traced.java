package t;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;

/**
 * Root invocations inside and outside of spans. "Traced sdk|agent TIMES" waits for a line; then work(1) to work(TIMES) are called:
 * in a span (n % 3 == 0), with a span in a callee (1), without any (2). It writes what each is part of: "n trace span".
 */
public class Traced {
    static Tracer tracer;
    static String said = "";
    static double sink;

    static void busy(int n) {
        for (int i = 0; i < n * 2000; i++) sink += Math.sqrt(i);
    }

    static void inner(int n) {
        Span s = tracer.spanBuilder("inner").startSpan();
        try (Scope x = s.makeCurrent()) {
            said = s.getSpanContext().getTraceId() + " " + s.getSpanContext().getSpanId();
            busy(n);
            Span more = tracer.spanBuilder("more").startSpan();
            try (Scope y = more.makeCurrent()) {
                busy(1);
            } finally {
                more.end();
            }
        } finally {
            s.end();
        }
    }

    static void work(int n) {
        busy(100 * n);
        if (n % 3 == 1) inner(n);
    }

    public static void main(String[] a) throws Exception {
        if (a[0].equals("sdk")) GlobalOpenTelemetry.set(OpenTelemetrySdk.builder().setTracerProvider(SdkTracerProvider.builder().build()).build());
        tracer = GlobalOpenTelemetry.getTracer("t");
        int times = Integer.parseInt(a[1]);
        System.out.println("READY");
        System.in.read();
        for (int n = 1; n <= times; n++) {
            said = "- -";
            if (n % 3 == 0) {
                Span s = tracer.spanBuilder("outer").startSpan();
                try (Scope x = s.makeCurrent()) {
                    said = s.getSpanContext().getTraceId() + " " + s.getSpanContext().getSpanId();
                    work(n);
                } finally {
                    s.end();
                }
            } else {
                work(n);
            }
            System.out.println(n + " " + said);
        }
        System.out.println("OK " + sink);
        while (System.in.read() != 'e') continue;
    }
}
