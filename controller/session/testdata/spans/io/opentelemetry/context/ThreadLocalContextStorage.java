package io.opentelemetry.context;

enum ThreadLocalContextStorage implements ContextStorage {
    INSTANCE;

    private static final ThreadLocal<Context> here = new ThreadLocal<>();

    @Override
    public void attach(Context c) {
        here.set(c);
    }

    void restore(Context c) {
        here.set(c);
    }

    @Override
    public Context current() {
        return here.get();
    }
}
