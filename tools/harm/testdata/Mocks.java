package f;

import java.io.FileWriter;
import java.lang.reflect.Method;

/**
 * An agent that has Mockito mock a class of the program, with its inline maker, which changes the class itself. It asks a
 * mock and a real object again and again, and writes how often both have answered right, or what went wrong. Mockito is
 * called by reflection, so that it need not be there to compile this.
 */
public class Mocks {
    public static void premain(String file) throws Exception {
        Class<?> mockito = Class.forName("org.mockito.Mockito");
        Method mock = mockito.getMethod("mock", Class.class, Class.forName("org.mockito.stubbing.Answer"));
        Object answer = mockito.getField("RETURNS_SMART_NULLS").get(null);
        int real = ask(mock, answer); // before the program begins
        Thread t = new Thread(() -> {
            String says = "";
            try {
                for (int n = 1; ; n++) {
                    int got = ask(mock, answer);
                    says = got == real ? "right " + n : "wrong: " + got;
                    if (got != real) break;
                    write(file, says);
                    Thread.sleep(20);
                }
            } catch (Exception e) {
                says = e.toString();
            }
            write(file, says);
        }, "mocks");
        t.setDaemon(true);
        t.start();
    }

    /** 0 from the mock, 49 from the real one. */
    static int ask(Method mock, Object answer) throws Exception {
        Faults.Shape mocked = (Faults.Shape) mock.invoke(null, Faults.Square.class, answer);
        return mocked.area(7) * 1000 + new Faults.Square().area(7);
    }

    static void write(String file, String text) {
        try (FileWriter w = new FileWriter(file)) {
            w.write(text);
        } catch (Exception e) {
            System.err.println(e);
        }
    }
}
