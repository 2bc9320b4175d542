package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A Flush says what the first redefinition of a class is going to cost a JVM. HotSpot
// records what its compiled code depends on only from the moment on when an agent that
// can redefine classes is there. Where that comes late, the first redefinition throws
// away all compiled code (VM_RedefineClasses::flush_dependent_code).
type Flush struct {
	Prepared bool          // the JVM was started with an agent
	Earlier  bool          // an earlier session has redefined classes in this JVM
	Methods  int           // compiled now; 0 where that was not looked at
	Compiled time.Duration // for which the JVM's compilers have worked since it began; 0 where it does not say
	Busy     float64       // cores that the process uses; negative where that was not looked at
	Cores    int           // of the machine
}

// From these figures on a user is asked.
const (
	heavyCompiled = 10 * time.Second
	heavyBusy     = 0.3 // of a core
	busyLook      = 300 * time.Millisecond
)

// FlushOf looks at a JVM from outside, for a third of a second where there is much to be
// compiled again. Its error is that of ctx, or says that the process can't be read.
func FlushOf(ctx context.Context, p attach.Process) (f Flush, err error) {
	f = Flush{Prepared: p.Prepared, Earlier: session.Flushed(p), Busy: -1, Cores: runtime.NumCPU()}
	if !f.All() {
		return f, nil
	}
	if c, err := attach.Counters(p.PID); err == nil {
		f.Compiled = compileTime(c)
	}
	if f.Compiled < heavyCompiled {
		return f, nil
	}
	before, err := processorTime(p.PID)
	if err != nil {
		return f, err
	}
	began := time.Now()
	if o, err := vmstructs.Observe(p.PID); err == nil {
		f.Methods = o.Compiled()
	}
	select {
	case <-time.After(time.Until(began.Add(busyLook))):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	after, err := processorTime(p.PID)
	f.Busy = (after - before).Seconds() / time.Since(began).Seconds()
	return f, err
}

// All reports whether all compiled code is going to be thrown away.
func (f Flush) All() bool { return !f.Prepared && !f.Earlier }

// Heavy reports whether that is going to be felt: the process is busy, and there is much
// to be compiled again.
func (f Flush) Heavy() bool { return f.All() && f.Busy >= heavyBusy && f.Compiled >= heavyCompiled }

// String says it in a sentence, without a full stop.
func (f Flush) String() string {
	switch {
	case f.Prepared:
		return "the JVM was started with an agent: it keeps its compiled code when the first class is redefined"
	case f.Earlier:
		return "classes were redefined in this JVM before: it keeps its compiled code except for that of the classes that are redefined"
	}
	var b strings.Builder
	b.WriteString("the JVM was started without an agent, so the first redefinition by whatever tool throws away all compiled code")
	if f.Methods > 0 {
		fmt.Fprintf(&b, ", of %d methods here", f.Methods)
	}
	if f.Compiled > 0 {
		fmt.Fprintf(&b, "; its compilers have worked for %s since it began", f.Compiled.Round(100*time.Millisecond))
	}
	if f.Busy >= 0 {
		fmt.Fprintf(&b, "; it uses %.1f of %d cores now", f.Busy, f.Cores)
	}
	if f.Heavy() {
		b.WriteString(": it is going to be slow until most of that is done again")
	}
	return b.String()
}

// flush is the check.
func (e *examination) flush() {
	f, err := FlushOf(e.ctx, e.proc)
	switch {
	case err != nil:
		e.add("prepared", Warning, "", "what the first redefinition costs can't be told: %v", err)
	case f.Heavy():
		e.add("prepared", Warning, "rivulet prepare "+strconv.Itoa(e.pid)+" at a quiet hour, or rivulet prepare --jar for the next start", "%s", f)
	case f.All():
		e.add("prepared", OK, "rivulet prepare "+strconv.Itoa(e.pid)+" at a quiet hour, or rivulet prepare --jar for the next start", "%s", f)
	default:
		e.add("prepared", OK, "", "%s", f)
	}
}

// compileTime is the time that the JVM's compilers have worked, by its counters.
func compileTime(counters map[string]any) time.Duration {
	ticks, _ := counters["java.ci.totalTime"].(int64)
	hertz, _ := counters["sun.os.hrt.frequency"].(int64)
	if ticks <= 0 || hertz <= 0 {
		return 0
	}
	return time.Duration(float64(ticks) / float64(hertz) * float64(time.Second))
}

// clockTick is what the kernel counts processor time in (USER_HZ).
const clockTick = 10 * time.Millisecond

// processorTime is what a process has used.
func processorTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name may contain anything
	if len(fields) < 13 {
		return 0, errors.New("the kernel does not say what time the process has used")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * clockTick, errors.Join(err1, err2)
}
