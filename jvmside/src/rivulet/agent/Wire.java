// Generated from jvmside/wire by "go tool task generate". Do not edit.
package rivulet.agent;

/** Numbers of messages: package wire, tables Messages and Codes. */
final class Wire {
    private Wire() {}

    /** send the loaded classes: LOADERS, CLASSES; from the first time with jdk 1 on, all of the JDK's too. */
    static final int CMD_LIST = 1;
    /** send these classes' files: BYTES. */
    static final int CMD_FETCH = 2;
    /** retransform these classes and send BATCH; unless all is set, leave those that aren't initialized to the thread that waits. */
    static final int CMD_RETRANSFORM = 3;
    /** restore every class, send RESTORED, end; gently: without the controller, and send nothing. */
    static final int CMD_STOP = 4;
    /** let a program that waits at its start (premain) go on. */
    static final int CMD_GO = 5;
    /** say which loaders could find this class: FOUND. */
    static final int CMD_FIND = 6;
    /** run the sample, without and with probes, so many calls at first: CALIBRATED; form 1 has the probe of leaf methods; empty classes are those of the last time with this form. */
    static final int CMD_CALIBRATE = 7;
    /** send the names of the JDK's loaded classes: NAMES. */
    static final int CMD_NAMES = 8;
    /** a recording of Flight Recorder's that is to end if the controller is lost. */
    static final int CMD_FLIGHT = 9;
    /** first message of the agent. */
    static final int REQ_HELLO = 16;
    /** class loaders that the controller has not heard of. */
    static final int REQ_LOADERS = 17;
    /** loaded classes; state has the CLASS_ bits; an empty super is none; place is the path of the code source's URL, if that is a file's, or an equals sign for that of the row before. */
    static final int REQ_CLASSES = 18;
    /** class files as resources; empty where none was found. */
    static final int REQ_BYTES = 19;
    /** a class is being loaded or retransformed; flags has the HOOK_ bits; token has tag and node of the invocation that loads it, 0 outside of the subgraph; thread is the id of the thread that loads it, place is where its code source says that it lies, without a file's protocol: both of a load inside the subgraph alone; answer is a TRANSFORM_ row; original, where not empty, is what restoring must yield; the reply waits until other classes are instrumented that this one brings into reach. */
    static final int REQ_TRANSFORM = 20;
    /** a thread has entered a fresh method and waits; the reply lists classes that it has to retransform itself. */
    static final int REQ_REVEAL = 21;
    /** it has done so; the classes are those that were refused, then those that were done; the reply is that of REQ_REVEAL: what it has to do besides. With no classes it asks what is left, since other threads had some of them. */
    static final int REQ_REVEALED = 22;
    /** a batch is done; classes not named were retransformed; outcome is an OUTCOME_ row. */
    static final int REQ_BATCH = 23;
    /** every class is restored but those named. */
    static final int REQ_RESTORED = 24;
    /** one batch of the calibration of that number; 0 calls: the sample could not be made. The reply asks for another batch of so many calls; 0 ends it, or lets other commands come first. */
    static final int REQ_CALIBRATED = 26;
    /** a thread inside the subgraph is about to call these methods by reflection or a method handle, or a thread links a call site that calls them, and waits; the reply is that of REQ_REVEAL, and REQ_REVEALED then has the number, which is negative; gone is 1 where no box was free in time, so that the thread has gone on, and another one tells; redefined is H_REDEFINED as it was when the thread asked. */
    static final int REQ_TARGETS = 27;
    /** classes of the boot and platform loaders that are loaded, without arrays and hidden ones. */
    static final int REQ_NAMES = 28;
    /** loaders of which a resource search found the class; 0 stands for the JDK's own. */
    static final int REQ_FOUND = 25;
    /** an interface. */
    static final int CLASS_INTERFACE = 1;
    /** its initialization has ended. */
    static final int CLASS_INITIALIZED = 2;
    /** the JVM lets agents redefine it. */
    static final int CLASS_MODIFIABLE = 4;
    /** hidden or anonymous: it cannot be found by name. */
    static final int CLASS_HIDDEN = 8;
    /** the bootstrap loader, always loader 0. */
    static final int LOADER_BOOT = 0;
    /** platform loader; on JDK 8 the extension loader. */
    static final int LOADER_PLATFORM = 1;
    /** system class loader. */
    static final int LOADER_APP = 2;
    /** any other. */
    static final int LOADER_OTHER = 3;
    /** the class is there and is being retransformed. */
    static final int HOOK_REDEFINED = 1;
    /** the agent's own thread asks, which can't wait for what it would have to do itself. */
    static final int HOOK_AGENT = 2;
    /** a thread asks that does its part of a reveal: the agent's may be waiting for it. */
    static final int HOOK_REVEAL = 4;
    /** the thread is inside the subgraph. */
    static final int HOOK_INSIDE = 8;
    /** no other class of the agent's retransformation comes after it: what is refused now keeps all of them as they are. */
    static final int HOOK_LAST = 16;
    /** the class goes without probes: as it came or, where given, as original. */
    static final int TRANSFORM_NONE = 0;
    /** it gets these bytes. */
    static final int TRANSFORM_PROBES = 1;
    /** it must not be retransformed: it would lose what can't be given back. */
    static final int TRANSFORM_REFUSE = 2;
    /** the JVM refused the new version. */
    static final int OUTCOME_REFUSED = 0;
    /** not initialized: left to the waiting thread. */
    static final int OUTCOME_LEFT = 1;
    /** no such class: unloaded. */
    static final int OUTCOME_GONE = 2;
}
