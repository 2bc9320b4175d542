package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// exactness is what a session keeps to tell whether a recording's counts are exact.
type exactness struct {
	h      *cha.Hierarchy
	ledger *hotswap.Ledger

	// dormant are classes that were loaded and not initialized when the recording
	// began and whose initializers have no probes: only Class.forName and the like
	// can run one below the root, since initializers that code names are within reach.
	dormant []cha.ClassID
	awake   []cha.ClassID // those of them that were initialized when it ended
}

// skipGaps are the reasons of skipped methods that leave calls out, by how a report
// puts them.
var skipGaps = map[scheme.Reason]string{
	scheme.Fixed:  "methods of classes that the JVM can't redefine, hidden ones say, have no probes",
	scheme.Opaque: "classes whose code can't be had are within reach: what they call is recorded only if something else reveals it",
	unknownTarget: "methods were called by reflection or through method handles, in classes whose code can't be had",
	scheme.Native: "native methods of the program are within reach that are not counted everywhere, and may call anything",
}

// newExactness remembers the classes whose initializers nobody would see.
func newExactness(h *cha.Hierarchy, ledger *hotswap.Ledger) exactness {
	x := exactness{h: h, ledger: ledger}
	h.Classes(func(m *cha.ClassMirror) bool {
		if m.Initialized || m.Excluded || m.Exact == nil || m.IsLambda() {
			return true
		}
		id := cha.MethodID{Class: m.ID, Name: "<clinit>", Desc: "()V"}
		if c := h.Method(id); c != nil && c.HasCode && !c.Filtered {
			x.dormant = append(x.dormant, m.ID)
		}
		return true
	})
	return x
}

// lookForAwake finds the classes that were initialized while recording without a
// probe, before the session detaches. It reports false where the target has ended.
func (s *Session) lookForAwake(ctx context.Context) bool {
	look := false
	err := s.do(ctx, func() {
		x := &s.loop.exactness
		x.dormant = slices.DeleteFunc(x.dormant, func(id cha.ClassID) bool {
			return s.loop.probed(cha.MethodID{Class: id, Name: "<clinit>", Desc: "()V"})
		})
		look = len(x.dormant) > 0 && x.loadsByName()
	})
	if err == nil && look {
		_, err = s.list(ctx)
	}
	if err != nil {
		return false
	}
	return s.do(ctx, func() {
		for _, id := range s.loop.exactness.dormant {
			if m := s.loop.h.Class(id); m != nil && m.Initialized {
				s.loop.exactness.awake = append(s.loop.exactness.awake, id)
			}
		}
	}) == nil
}

// loadsByName tells whether an instrumented method initializes classes by name.
func (x *exactness) loadsByName() bool {
	for _, m := range x.ledger.Instrumented() {
		if slices.ContainsFunc(scheme.Reflective(x.h, methodID(m)), byName) {
			return true
		}
	}
	return false
}

func byName(c cha.Call) bool { return c.Owner == "java/lang/Class" && c.Name == "forName" }

// gaps says in a report why calls may be missing from it, as far as that does not
// depend on the tree.
func (l *loop) gaps(r *export.Report) {
	if p := l.reflection.problem; p != "" {
		r.AddGap("calls by reflection and through method handles could not be followed: "+p, nil)
	}
	if p := l.following.problem; p != "" {
		r.AddGap("not all tasks could be followed: "+p, nil)
	}
	if n, recorded := l.unanswered.since(l.s.data.Unanswered()); n > 0 {
		how := "they may lack probes"
		if recorded {
			how = "what of them is within reach is recorded from some moment on"
		}
		r.AddGap(fmt.Sprintf("%s loaded before Rivulet answered: %s", export.Plural(n, "class was", "classes were"), how), nil)
	}
	if n := l.s.data.Untold(); n > 0 {
		r.AddGap(fmt.Sprintf("%s of reflection or method handles could not be told to Rivulet, or found: what is called through them may lack probes", export.Plural(n, "target", "targets")), nil)
	}
	where := map[string][]string{}
	for _, k := range l.skipped {
		if gap := skipGaps[k.Reason]; gap != "" && !l.settledSince(k) {
			where[gap] = append(where[gap], k.Method.String())
		}
	}
	for _, m := range l.ledger.Skipped() {
		if gap := refusedGap(m.Reason); gap != "" {
			where[gap] = append(where[gap], methodID(m).String())
		}
	}
	for gap, names := range where {
		r.AddGap(gap, names)
	}
}

// settledSince tells whether a method that was skipped is counted where it is called, or
// its class is known by now.
func (l *loop) settledSince(k scheme.Skip) bool {
	switch k.Reason {
	case scheme.Native:
		return l.ledger.HasSite(keyOf(k.Method)) && !l.sites.Partly(k.Method)
	case scheme.Opaque, unknownTarget:
		c := l.h.Class(k.Method.Class)
		return c != nil && c.Methods != nil
	default:
		return false
	}
}

// refusedGap says what is missing because of a method that the ledger gave up, ""
// where nothing is.
func refusedGap(reason string) string {
	switch {
	case reason == "abstract" || reason == unlinkable:
		return ""
	case reason == "native":
		return skipGaps[scheme.Native]
	default:
		return "methods within reach could not get probes, for the reasons in the list of skipped methods"
	}
}

// invalidClass is how the JVM refuses to redefine a class that it can't link, wordless
// how JDK 8 does, and unlinkable what that means.
const (
	invalidClass = "class redefinition failed: invalid class"
	wordless     = "java.lang.InternalError"
	unlinkable   = "its class can't be linked, most likely for want of a class of an optional dependency: none of its code can run, so nothing is missing"
)

// report says what the tree, and a look at the end, show to be missing.
// looked tells that the classes could be looked at.
func (x *exactness) report(r *export.Report, looked bool) {
	if x.ledger == nil { // nothing was recorded
		return
	}
	var natives []string
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m := x.ledger.Method(f.Method)
		if m == nil || f.Calls == 0 {
			continue
		}
		id := methodID(m)
		if d := x.h.Method(id); d != nil && d.IsNative() && !ofJDK(x.h, id.Class) {
			natives = append(natives, id.String())
		}
	}
	if len(natives) > 0 {
		r.AddGap("native methods of the program were called: what they call through JNI is recorded only if something else reveals it", natives)
	}
	var awake []string
	for _, id := range x.awake {
		awake = append(awake, id.String())
	}
	if len(awake) > 0 {
		r.AddGap("classes were initialized while recording, perhaps below the root by Class.forName, and their initializers have no probes", awake)
	}
	if !looked && len(x.dormant) > 0 && x.loadsByName() {
		r.AddGap(fmt.Sprintf("Class.forName may have run initializers of %d classes that have no probes: the target ended before that could be seen", len(x.dormant)), nil)
	}
}
