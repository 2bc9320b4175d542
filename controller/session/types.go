package session

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// types shows the verifier the classes that are known, as the classes of one
// loader see them (JVMS §4.10.1.1). It says nothing of a name that can mean
// more than one of them.
type types struct {
	h      *cha.Hierarchy
	loader uint32
}

// typesFor makes every rewritten class verified before it is sent: the JVM
// does not look at those of the boot loader.
func (l *loop) typesFor(id hotswap.ClassID) verify.Hierarchy { return types{l.h, id.Loader} }

// Class implements verify.Hierarchy.
func (t types) Class(name string) (super string, isInterface, ok bool) {
	known := t.h.Named(name)
	if len(known) > 1 {
		for _, m := range known {
			if m.ID.Loader == t.loader {
				return m.Super, m.IsInterface(), true
			}
		}
	}
	if len(known) != 1 {
		return "", false, false
	}
	return known[0].Super, known[0].IsInterface(), true
}
