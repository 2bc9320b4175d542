package relink;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Defines the class {@link Late} anew. */
final class Loading extends ClassLoader {
    private Loading() { super(Loading.class.getClassLoader()); }

    static int late(int x) throws Exception {
        Calls.hit("relink.Late.late");
        return (Integer) new Loading().loadClass("relink.Late").getMethod("late", int.class).invoke(null, x);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals("relink.Late")) return super.loadClass(name, resolve);
        try (InputStream in = getResourceAsStream("relink/Late.class")) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int b; (b = in.read()) >= 0; ) bytes.write(b);
            return defineClass(name, bytes.toByteArray(), 0, bytes.size());
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
