/** An agent that does as its options say. */
public class Agent {
    public static void agentmain(String options) throws Exception {
        if ("boom".equals(options)) {
            throw new RuntimeException("boom");
        }
        if ("slow".equals(options)) {
            Thread.sleep(1200);
        }
        System.out.println("agent:" + options);
    }
}
