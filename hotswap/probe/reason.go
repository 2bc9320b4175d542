package probe

import (
	"errors"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A reason says why a method is left as it is.
type reason string

func (r reason) Error() string { return string(r) }

// The reasons for which methods are skipped.
const (
	reasonNative    reason = "native"
	reasonAbstract  reason = "abstract"
	reasonNoCode    reason = "no Code attribute"
	reasonJsr       reason = "jsr or ret (JVMS §4.9.1), compiled for Java 5 or earlier"
	reasonCodeSize  reason = "over 64 KB of code with probes"
	reasonPool      reason = "constant pool full"
	reasonLocals    reason = "no local-variable slot left (max_locals over 65533)"
	reasonStack     reason = "no operand-stack room left (max_stack over 65532)"
	reasonHandlers  reason = "exception table full"
	reasonParam     reason = "its code changes a parameter that the probe at its end reads"
	reasonFrames    reason = "stack maps over 32 MB with probes"
	reasonFar       reason = "a conditional branch passes 32 KB with probes, and the types behind it are not known"
	reasonGrowth    reason = "class over 128 MB with probes"
	reasonThisMixed reason = "constructor with code that runs both before and after super()"
	reasonThisLost  reason = "constructor that keeps this in no local variable before super()"
	reasonComplex   reason = "constructor too complex to find the call of super()"
)

// malformed is the reason for code that no JVM would accept.
func malformed(what string) error { return reason("malformed: " + what) }

// reasonOf turns what went wrong with a method into words.
func reasonOf(err error) string {
	if limit := (*classfile.LimitError)(nil); errors.As(err, &limit) {
		return string(reasonPool)
	}
	if r := reason(""); errors.As(err, &r) {
		return string(r)
	}
	return "malformed: " + err.Error()
}

// sizes are a method's bytecodes before and after.
type sizes struct{ before, after int }

// limits are the sizes at which HotSpot treats a method differently, largest
// first (flags HugeMethodLimit, FreqInlineSize, MaxInlineSize).
var limits = []struct {
	size int
	note string
}{
	{8000, "passes 8000 bytecodes: HotSpot won't compile it (-XX:-DontCompileHugeMethods)"},
	{325, "passes 325 bytecodes: HotSpot won't inline it where it is hot (-XX:FreqInlineSize)"},
	{35, "passes 35 bytecodes: HotSpot won't inline it where it is cold (-XX:MaxInlineSize)"},
}

// note returns what the growth means, "" if nothing.
func (s sizes) note() string {
	for _, l := range limits {
		if s.before <= l.size && l.size < s.after {
			return l.note
		}
	}
	return ""
}
