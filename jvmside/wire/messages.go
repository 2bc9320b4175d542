package wire

// A Message is a row of the message table.
type Message struct {
	Name   string
	Type   uint32
	Fields string // for docs/formats.md; "[]" repeats what follows with a u32 count before it
	Reply  string // fields of the reply; "" for a command, which has none
	Doc    string
}

// Commands travel from the controller to the agent through a FIFO, each
// preceded by a u32 with the length of what follows and a u8 with its type.
const (
	CmdList        = 1
	CmdFetch       = 2
	CmdRetransform = 3
	CmdStop        = 4
	CmdGo          = 5
	CmdFind        = 6
	CmdCalibrate   = 7
	CmdNames       = 8
	CmdFlight      = 9
)

// Requests travel from the target to the controller through the mailbox, and
// each is answered there.
const (
	ReqHello     = 16
	ReqLoaders   = 17
	ReqClasses   = 18
	ReqBytes     = 19
	ReqTransform = 20
	ReqReveal    = 21
	ReqRevealed  = 22
	ReqBatch     = 23
	ReqRestored  = 24
	ReqFound     = 25

	ReqCalibrated = 26
	ReqTargets    = 27
	ReqNames      = 28
)

// MaxMessage bounds a message of either direction, in bytes. The largest that
// travels is a class file, which JVMS §4.7.3 and §4.1 keep far below.
const MaxMessage = 64 << 20

// Messages is the table of all messages.
var Messages = []Message{
	{"CMD_LIST", CmdList, "u8 jdk", "", "send the loaded classes: LOADERS, CLASSES; from the first time with jdk 1 on, all of the JDK's too"},
	{"CMD_FETCH", CmdFetch, "[] u32 loader, str name", "", "send these classes' files: BYTES"},
	{"CMD_RETRANSFORM", CmdRetransform, "u32 batch, u8 all, [] u32 loader, str name", "", "retransform these classes and send BATCH; unless all is set, leave those that aren't initialized to the thread that waits"},
	{"CMD_STOP", CmdStop, "u8 gently", "", "restore every class, send RESTORED, end; gently: without the controller, and send nothing"},
	{"CMD_GO", CmdGo, "", "", "let a program that waits at its start (premain) go on"},
	{"CMD_FIND", CmdFind, "str name", "", "say which loaders could find this class: FOUND"},

	{"CMD_CALIBRATE", CmdCalibrate, "u32 number, u32 calls, u8 form, bytes class, bytes class", "", "run the sample, without and with probes, so many calls at first: CALIBRATED; form 1 has the probe of leaf methods; empty classes are those of the last time with this form"},

	{"CMD_NAMES", CmdNames, "", "", "send the names of the JDK's loaded classes: NAMES"},

	{"CMD_FLIGHT", CmdFlight, "str recording", "", "a recording of Flight Recorder's that is to end if the controller is lost"},

	{"REQ_HELLO", ReqHello, "str java, u64 nanoTime, u8 retransform, u32 pid", "", "first message of the agent"},
	{"REQ_LOADERS", ReqLoaders, "[] u32 id, u8 kind, u32 parent, str class, str name", "", "class loaders that the controller has not heard of"},
	{"REQ_CLASSES", ReqClasses, "u8 last, [] u32 loader, str name, u32 access, u8 state, u32 superLoader, str super, [] u32 interfaceLoader, str interface; str place", "", "loaded classes; state has the CLASS_ bits; an empty super is none; place is the path of the code source's URL, if that is a file's, or an equals sign for that of the row before"},
	{"REQ_BYTES", ReqBytes, "u8 last, [] u32 loader, str name, bytes file", "", "class files as resources; empty where none was found"},
	{"REQ_TRANSFORM", ReqTransform, "u32 loader, str name, u8 flags, u64 token, u64 thread, u64 nanoTime, str place, bytes class", "u8 answer, bytes class, bytes original", "a class is being loaded or retransformed; flags has the HOOK_ bits; token has tag and node of the invocation that loads it, 0 outside of the subgraph; thread is the id of the thread that loads it, place is where its code source says that it lies, without a file's protocol: both of a load inside the subgraph alone; answer is a TRANSFORM_ row; original, where not empty, is what restoring must yield; the reply waits until other classes are instrumented that this one brings into reach"},
	{"REQ_REVEAL", ReqReveal, "u32 method", "[] u32 loader, str name", "a thread has entered a fresh method and waits; the reply lists classes that it has to retransform itself"},
	{"REQ_REVEALED", ReqRevealed, "u32 method, [] u32 loader, str name, str reason; [] u32 loader, str name", "[] u32 loader, str name", "it has done so; the classes are those that were refused, then those that were done; the reply is that of REQ_REVEAL: what it has to do besides. With no classes it asks what is left, since other threads had some of them"},
	{"REQ_BATCH", ReqBatch, "u32 batch, u64 ns, [] u32 loader, str name, u8 outcome, str reason", "", "a batch is done; classes not named were retransformed; outcome is an OUTCOME_ row"},
	{"REQ_RESTORED", ReqRestored, "u32 classes, u64 ns, [] u32 loader, str name, str reason", "", "every class is restored but those named"},
	{"REQ_CALIBRATED", ReqCalibrated, "u32 number, u32 calls, u64 bare ns, u64 probed ns", "u32 calls", "one batch of the calibration of that number; 0 calls: the sample could not be made. The reply asks for another batch of so many calls; 0 ends it, or lets other commands come first"},
	{"REQ_TARGETS", ReqTargets, "i32 number, u8 gone, u64 redefined, [] u32 loader, str class, str name, str descriptor", "[] u32 loader, str name", "a thread inside the subgraph is about to call these methods by reflection or a method handle, or a thread links a call site that calls them, and waits; the reply is that of REQ_REVEAL, and REQ_REVEALED then has the number, which is negative; gone is 1 where no box was free in time, so that the thread has gone on, and another one tells; redefined is H_REDEFINED as it was when the thread asked"},
	{"REQ_NAMES", ReqNames, "u8 last, [] str name", "", "classes of the boot and platform loaders that are loaded, without arrays and hidden ones"},
	{"REQ_FOUND", ReqFound, "str name, [] u32 loader", "", "loaders of which a resource search found the class; 0 stands for the JDK's own"},
}

// Constants of messages.
const (
	ClassInterface   = 1
	ClassInitialized = 2
	ClassModifiable  = 4
	ClassHidden      = 8

	LoaderBoot     = 0
	LoaderPlatform = 1
	LoaderApp      = 2
	LoaderOther    = 3

	HookRedefined = 1
	HookAgent     = 2
	HookReveal    = 4
	HookInside    = 8
	HookLast      = 16

	SamePlace = "=" // no path, which begins with a slash

	TransformNone   = 0
	TransformProbes = 1
	TransformRefuse = 2

	OutcomeRefused = 0
	OutcomeLeft    = 1
	OutcomeGone    = 2
)

// Codes are the numbers inside messages.
var Codes = []Const{
	{"CLASS_INTERFACE", ClassInterface, "an interface"},
	{"CLASS_INITIALIZED", ClassInitialized, "its initialization has ended"},
	{"CLASS_MODIFIABLE", ClassModifiable, "the JVM lets agents redefine it"},
	{"CLASS_HIDDEN", ClassHidden, "hidden or anonymous: it cannot be found by name"},
	{"LOADER_BOOT", LoaderBoot, "the bootstrap loader, always loader 0"},
	{"LOADER_PLATFORM", LoaderPlatform, "platform loader; on JDK 8 the extension loader"},
	{"LOADER_APP", LoaderApp, "system class loader"},
	{"LOADER_OTHER", LoaderOther, "any other"},
	{"HOOK_REDEFINED", HookRedefined, "the class is there and is being retransformed"},
	{"HOOK_AGENT", HookAgent, "the agent's own thread asks, which can't wait for what it would have to do itself"},
	{"HOOK_REVEAL", HookReveal, "a thread asks that does its part of a reveal: the agent's may be waiting for it"},
	{"HOOK_INSIDE", HookInside, "the thread is inside the subgraph"},
	{"HOOK_LAST", HookLast, "no other class of the agent's retransformation comes after it: what is refused now keeps all of them as they are"},
	{"TRANSFORM_NONE", TransformNone, "the class goes without probes: as it came or, where given, as original"},
	{"TRANSFORM_PROBES", TransformProbes, "it gets these bytes"},
	{"TRANSFORM_REFUSE", TransformRefuse, "it must not be retransformed: it would lose what can't be given back"},
	{"OUTCOME_REFUSED", OutcomeRefused, "the JVM refused the new version"},
	{"OUTCOME_LEFT", OutcomeLeft, "not initialized: left to the waiting thread"},
	{"OUTCOME_GONE", OutcomeGone, "no such class: unloaded"},
}

// Words and states of a box.
const (
	BState  = 0
	BType   = 4
	BLength = 8
	BTotal  = 12
	BOwner  = 16

	BoxFree      = 0
	BoxClaimed   = 1
	BoxRequest   = 2
	BoxMore      = 3
	BoxReply     = 4
	BoxNext      = 5
	BoxAbandoned = 6
	BoxLeft      = 7
)

// States of the agent, and why it stopped.
const (
	StateUp       = 1
	StateStopping = 2
	StateStopped  = 3
	StateWinding  = 4

	ReasonCommand   = 1
	ReasonHeartbeat = 2
	ReasonEOF       = 3
	ReasonFailed    = 4
)
