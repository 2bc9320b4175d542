package session

import (
	"bytes"
	"fmt"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// rewrite decides about a class's bytes. A class that can't be dealt with is refused in
// the ledger, so that nobody believes its methods to be recorded.
func (l *loop) rewrite(id cha.ClassID, b []byte, redefined, later bool) decision {
	if l.round != nil && l.round.spoilt && l.round.careful {
		l.round.spoilt = false
		return decision{answer: wire.TransformRefuse}
	}
	refuse := func(reason string) decision {
		l.refused(id, reason)
		return decision{answer: wire.TransformNone}
	}
	defer l.analyse()()
	var original []byte
	file := l.files[id]
	if redefined && l.keepsFile() {
		if file == nil && l.filed[id].IsZero() && losesParameters(b) {
			refuse("a retransformation by this JVM would lose the names of its parameters (JDK-8240908), and its class file can't be had to put them back")
			return decision{answer: wire.TransformRefuse}
		}
		if file != nil {
			var err error
			if original, err = hotswap.Original(b, file); err != nil {
				return refuse("its MethodParameters can't be put back: " + err.Error())
			}
			if original != nil {
				b = original
			}
		}
	}
	b, err := l.mapped(id, b)
	patches := l.patchesOf(id)
	if err != nil && patches != nil {
		patches.problem = fmt.Sprintf("%s: %v", id, err)
		return decision{answer: wire.TransformNone, original: original}
	}
	if err != nil {
		return refuse("the JVM has thrown away its stack maps, and they can't be had: " + err.Error())
	}
	if patches != nil {
		out, err := patches.Classes[id.Name](patched{l}, id, b)
		if err != nil {
			patches.problem = fmt.Sprintf("%s: %v", id, err)
			return decision{answer: wire.TransformNone, original: original}
		}
		b = out // an opened class has its own probes, too
	}
	var d hotswap.Draft
	if later {
		d, err = l.ledger.Draft(hotswap.ClassID(id), b)
	} else {
		d.Bytes, err = l.ledger.Rewrite(hotswap.ClassID(id), b)
	}
	l.setLeaves(id)
	out := decision{answer: wire.TransformProbes, bytes: d.Bytes, original: original}
	switch {
	case err != nil:
		refuse("Rivulet can't read the bytes that the JVM hands on: " + err.Error())
		return decision{answer: wire.TransformNone, original: original}
	case d.Bytes == nil && patches != nil:
		out.bytes = b
	case d.Bytes == nil:
		out.answer = wire.TransformNone // a bare retransformation loses them just as well
	case later:
		out.draft = d
	}
	return out
}

// losesParameters tells whether a class may have had names of parameters, by
// MethodParameters: the bytes that a JVM makes up for a retransformation lack
// them, but keep the name of the attribute among their constants. Proxies have
// had the attribute without names, which is as good as none.
func losesParameters(b []byte) bool {
	cf, err := classfile.Parse(b)
	return err == nil && cf.Super() != "java/lang/reflect/Proxy" && !classfile.HasMethodParameters(cf) && bytes.Contains(b, []byte("\x01\x00\x10MethodParameters"))
}
