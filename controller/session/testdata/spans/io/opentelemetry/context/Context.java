package io.opentelemetry.context;

/** The part of OpenTelemetry's API, by its names, that Rivulet reads spans by. */
public interface Context {
    Object span();

    default void makeCurrent(Runnable r) {
        ContextStorage s = ContextStorage.get();
        Context before = s.current();
        s.attach(this);
        r.run();
        ((ThreadLocalContextStorage) s).restore(before);
    }
}
