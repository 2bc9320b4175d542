package probe

import "strings"

// CrashesCompilers is the class of which C2 of JDK 17 crashed in
// ciExceptionHandler::catch_klass when its constructor had a catch-all handler
// and it was redefined among some 700 other classes.
const CrashesCompilers = "java/lang/Object"

// Why classes of the JDK never get probes.
const (
	whyAgent   = "left alone: the agent and the probes stand on it"
	whyLocks   = "left alone: threads wait and are woken in it"
	whyLoading = "left alone: classes are loaded and agents run through it"
	whyIO      = "left alone: the agent reads and writes through it"
	whyCrash   = "left alone: compilers of some JVMs crash on it"
	whyReplace = "left alone: compilers replace its methods by code of their own, probes and all"
)

// never are the classes of the JDK that never get probes, by name or, where the
// name ends in a slash, with all packages below. The first row that fits counts.
var never = []struct{ name, why string }{
	{CrashesCompilers, whyCrash},
	{"java/lang/", whyAgent}, // Thread, String, Class, ref, invoke, reflect, instrument
	{"jdk/internal/", whyAgent},
	{"sun/", whyAgent},
	{"jdk/jfr/", whyAgent},
	{"jdk/vm/", whyAgent},
	{"java/util/concurrent/", whyLocks},
	{"java/io/", whyIO},
	{"java/nio/", whyIO},
	{"java/net/", whyLoading},
	{"java/util/zip/", whyLoading},
	{"java/util/jar/", whyLoading},
	{"java/security/", whyLoading},
	{"com/sun/crypto/", whyReplace},
}

// Never reports whether a class of the JDK never gets probes, by the rule that
// says so ("java/lang/" for a package and those below) and why. Classes of the
// application that have such names are not meant.
func Never(class string) (rule, why string, is bool) {
	for _, n := range never {
		if class == n.name || strings.HasSuffix(n.name, "/") && strings.HasPrefix(class, n.name) {
			return n.name, n.why, true
		}
	}
	return "", "", false
}
