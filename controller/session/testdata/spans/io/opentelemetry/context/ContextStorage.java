package io.opentelemetry.context;

public interface ContextStorage {
    static ContextStorage get() {
        return LazyStorage.get();
    }

    void attach(Context c);

    Context current();
}
