import java.nio.file.Files;
import java.nio.file.Path;

/** Handles as many orders as /tmp/go says, when it is there: each has two items. */
public class Orders {
    static long sink;

    static void item(int n) { sink += n; }

    static void order(int n) {
        item(n);
        item(n + 1);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        Path go = Path.of("/tmp/go");
        for (int seen = 0; ; Thread.sleep(20)) {
            if (!Files.exists(go)) continue;
            String text = Files.readString(go).trim();
            int n = text.isEmpty() ? 0 : Integer.parseInt(text);
            if (n == 0) continue;
            Files.delete(go);
            for (int i = 0; i < n; i++) order(i);
            System.out.println("DONE " + n);
        }
    }
}
