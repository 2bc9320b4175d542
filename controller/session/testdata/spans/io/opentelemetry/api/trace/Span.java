package io.opentelemetry.api.trace;

import io.opentelemetry.context.Context;

public interface Span {
    static Span fromContextOrNull(Context c) {
        return (Span) c.span();
    }

    SpanContext getSpanContext();
}
