// Package patch has single methods of the JDK, and of libraries, call the probe class, so that
// something can be followed that no code of the program's tells: tasks that go to other threads
// ([Tasks]), what reflection and method handles are about to call ([Reflection]), the spans of
// OpenTelemetry ([Spans]). It names classes and methods and rewrites class files; whoever has a
// JVM fetches and redefines them.
package patch

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// An Edit is a set of classes, and what to change in each. It is immutable.
type Edit struct {
	Classes  map[string]Rewriter // by name
	Anywhere bool                // of any loader, not the boot loader alone
	Optional bool                // the boot loader may have none of them
}

// Has tells whether a class is one to change.
func (e *Edit) Has(id cha.ClassID) bool {
	return e.Classes[id.Name] != nil && (id.Loader == 0 || e.Anywhere)
}

// A Rewriter puts the calls into a class's bytes. An error says which method is not as it is
// known, or why the result does not verify; the class is to stay as it is then.
type Rewriter func(t Target, id cha.ClassID, b []byte) ([]byte, error)

// A Target is the JVM whose classes are changed.
type Target interface {
	// Types are the classes that are known, as those of a loader see them.
	Types(loader uint32) verify.Hierarchy
	// Method is the id under which invocations of a method are recorded; false if there is none to be had.
	Method(class cha.ClassID, m probe.MethodKey) (id int32, ok bool)
}

// inject rewrites a class of the JDK. What does not verify stays as it is, since
// the JVM would not look. nil if no method is wanted.
func inject(t Target, id cha.ClassID, b []byte, in *probe.Injector, want func(probe.MethodKey) (int32, bool)) ([]byte, error) {
	res, err := in.Rewrite(b, want)
	if err != nil {
		return nil, err
	}
	if len(res.Skipped) > 0 {
		return nil, fmt.Errorf("%s: %s", res.Skipped[0].MethodKey, res.Skipped[0].Reason)
	}
	bad, err := probe.Verify(res, t.Types(id.Loader))
	if err != nil {
		return nil, err
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%s does not verify with the probe: %s", bad[0].MethodKey, bad[0].Reason)
	}
	return res.Bytes, nil
}
