package io.opentelemetry.context;

final class LazyStorage {
    private static final ContextStorage storage = ThreadLocalContextStorage.INSTANCE;

    private LazyStorage() {}

    static ContextStorage get() {
        return storage;
    }
}
