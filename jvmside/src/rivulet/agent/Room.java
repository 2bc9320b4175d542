package rivulet.agent;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/** The folder through which controller and agent find each other. Its files are opened once; their names are removed then. */
final class Room {
    private Room() {}

    /** The data file's place: the room's own file, or the one that the file "data.at" names. */
    static String path(String room, String name) throws IOException {
        File at = new File(room, name + ".at");
        if (!at.exists()) return room + "/" + name;
        byte[] b = new byte[4096];
        try (FileInputStream in = new FileInputStream(at)) {
            return new String(b, 0, Math.max(0, in.read(b)), "UTF-8");
        }
    }

    /** Everything is open: the controller may die before it can remove the names. */
    static void remove(String room) {
        try {
            new File(path(room, "data")).delete();
            for (String name : new String[] {"data.at", "data", "commands", "bell", "agent.bin", ""}) new File(room, name).delete();
        } catch (IOException e) {
            // the controller does it too
        }
    }
}
