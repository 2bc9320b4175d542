package t;

import java.util.Scanner;
import java.util.concurrent.atomic.AtomicLongArray;

/** Uses a VarHandle, inside the JDK, for the first time when it is told to. */
public class Linking {
    static final AtomicLongArray VALUES = new AtomicLongArray(1);

    static void root() {}

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        System.out.println("READY");
        while (in.hasNextLine()) {
            if (in.nextLine().equals("root")) {
                for (int i = 0; i < 3; i++) root();
                System.out.println("CALLED");
            } else {
                VALUES.set(0, 1);
                System.out.println("LINKED");
            }
        }
    }
}
