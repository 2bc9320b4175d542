package session

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A decision is what becomes of a class's bytes, as the reply to REQ_TRANSFORM has it.
type decision struct {
	answer   uint8
	bytes    []byte
	original []byte
	draft    hotswap.Draft // still to be verified
}

// verifiesLater reports whether a class may be verified when the JVM has its bytes already and
// works on them. It may where others follow in the same batch, since the last one's
// answer is a refusal of the whole if one of them does not verify.
func (l *loop) verifiesLater(id cha.ClassID, flags uint8) bool {
	r := l.round
	if r == nil || flags&(wire.HookAgent|wire.HookRedefined) != wire.HookAgent|wire.HookRedefined {
		return false
	}
	switch {
	case r.first == (cha.ClassID{}):
		r.first = id
	case r.first == id: // the JVM has refused the batch, and the agent tries a part of it
		r.careful, r.spoilt = true, false
	}
	if flags&wire.HookLast != 0 {
		r.careful = true
	}
	return !r.careful
}

// verify does what was put off. What does not verify keeps the whole batch from taking
// effect; the agent tries again, and the methods to blame have no probes then.
func (l *loop) verify(id cha.ClassID, d hotswap.Draft) {
	if d.Bytes == nil {
		return
	}
	defer l.analyse()()
	ok, err := l.ledger.Verify(d)
	if err != nil {
		l.refused(id, "Rivulet can't read what it has rewritten: "+err.Error())
	}
	if !ok && l.round != nil {
		l.round.spoilt = true
	}
}
