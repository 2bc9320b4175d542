package t;

import java.security.Permission;

/** {@link Load} under a security manager of its own, which lets nobody see other processes. */
public class Managed {
    public static void main(String[] args) throws Exception {
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPermission(Permission p) {}

            @Override
            public void checkRead(String file) {
                if (file.matches("/proc/\\d+/stat")) throw new SecurityException(file);
            }
        });
        Load.main(args);
    }
}
