package hotswap

import "github.com/rivulet-profiler/rivulet/hotswap/probe"

// inject puts the program into the methods for which id says so.
func (l *Ledger) inject(b []byte, id func(probe.MethodKey) (int32, bool)) (probe.Result, error) {
	if l.program != nil {
		return l.program.Rewrite(b, id)
	}
	return probe.Rewrite(b, l.hooks, id)
}

// Rewrite puts the wanted probes into a class's bytes; nil when there is
// nothing to put in. Methods that can't be rewritten, or don't verify with
// probes, get their reason.
func (l *Ledger) Rewrite(id ClassID, b []byte) ([]byte, error) {
	for {
		d, err := l.Draft(id, b)
		if err != nil {
			return nil, err
		}
		if ok, err := l.Verify(d); ok || err != nil {
			return d.Bytes, err
		}
	}
}

// A Draft is a class with probes that nobody has verified.
type Draft struct {
	Bytes  []byte // nil when there was nothing to put in
	id     ClassID
	result probe.Result
}

// Draft is the first half of [Ledger.Rewrite], [Ledger.Verify] the second one. The
// bytes must not take effect before that.
func (l *Ledger) Draft(id ClassID, b []byte) (d Draft, err error) {
	if !l.Wants(id) {
		return d, nil
	}
	c := l.classes[id]
	l.rewriting = id
	r, err := l.inject(b, func(k probe.MethodKey) (int32, bool) {
		m := c.want[k]
		if m == nil || m.Reason != "" {
			return 0, false
		}
		return m.ID, true
	})
	if err != nil {
		return d, err
	}
	for _, m := range c.want {
		m.Leaf = false
	}
	for _, k := range r.Leaves {
		c.want[k].Leaf = true
	}
	for _, k := range r.Counts {
		c.want[k.MethodKey].Count, c.want[k.MethodKey].Uncounted = k, ""
	}
	for _, k := range r.Uncounted {
		c.want[k.MethodKey].Count, c.want[k.MethodKey].Uncounted = probe.Count{}, k.Reason
	}
	for _, s := range r.Skipped {
		if m := c.want[s.MethodKey]; m != nil && m.Reason == "" {
			m.Reason = s.Reason
		}
	}
	return Draft{r.Bytes, id, r}, nil
}

// Verify reports whether a JVM would take a draft, if it looked. Where not, the methods
// to blame have their reason now, and the next draft is without them.
func (l *Ledger) Verify(d Draft) (ok bool, err error) {
	if d.Bytes == nil {
		return true, nil
	}
	bad, err := l.verify(d.id, d.result)
	if err != nil {
		return false, err
	}
	for _, s := range bad {
		l.classes[d.id].want[s.MethodKey].Reason = "does not verify with probes: " + s.Reason
	}
	if len(bad) == 0 {
		l.notes = append(l.notes, d.result.Notes...)
	}
	return len(bad) == 0, nil
}

// verify returns the methods that the JVM would refuse, if it looked.
func (l *Ledger) verify(id ClassID, r probe.Result) ([]probe.Skipped, error) {
	if l.known == nil {
		return nil, nil
	}
	h := l.known(id)
	if h == nil {
		return nil, nil
	}
	return probe.Verify(r, h)
}
