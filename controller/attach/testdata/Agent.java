/** An agent that does as its options say. */
public class Agent {
    public static void agentmain(String options) throws Exception {
        if ("boom".equals(options)) {
            throw new RuntimeException("boom");
        }
        if ("slow".equals(options)) {
            System.out.println("agent begins");
            while (!new java.io.File("go on").exists()) Thread.sleep(10);
        }
        System.out.println("agent:" + options);
    }
}
