package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
)

// Diagnose says why no root invocation has been recorded: it is on some stack
// already, or nobody calls it. It takes one thread dump of the target (a pause
// of a millisecond or so), through the attach protocol. "" where there is
// nothing to say.
func (s *Session) Diagnose(ctx context.Context) string {
	if s.vm == nil || s.Progress().RootInvocations > 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dump, err := s.vm.ThreadDump(ctx)
	if err != nil {
		return ""
	}
	var text string
	err = s.do(ctx, func() { text = s.loop.diagnose(dump) })
	if err != nil {
		return ""
	}
	s.diagnosis.Store(text)
	return text
}

func (l *loop) diagnose(dump string) string {
	var out []string
	for i := range l.roots {
		r := &l.roots[i]
		if len(r.ids) == 0 {
			text := fmt.Sprintf("the class of root %s is not loaded yet.", r.text)
			if r.pattern != nil {
				text = fmt.Sprintf("no method that root %s matches is loaded yet.", r.text)
			}
			if len(r.abstract) > 0 {
				text = fmt.Sprintf("no implementation of root %s is loaded yet.", r.text)
			}
			if r.why != "" {
				text = fmt.Sprintf("root %s can't be one: %s.", r.text, r.why)
			}
			out = append(out, text)
			continue
		}
		threads, above := onStack(dump, r)
		switch {
		case len(threads) > 0:
			out = append(out, fmt.Sprintf("root %s is running in thread %q since before the recording began; only invocations that start later are recorded. Choose what it calls: %s.",
				r.text, threads[0], strings.Join(firstOf(append(above, l.callees(r)...), 5), ", ")))
		default:
			line := fmt.Sprintf("root %s has not been called since the recording began, and no thread is inside it.", r.text)
			if callees := firstOf(l.callees(r), 5); len(callees) > 0 {
				line += " Some of what it calls may be called from elsewhere: " + strings.Join(callees, ", ") + "."
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// onStack finds the threads that have the root on their stacks, and the
// methods that it has called there.
func onStack(dump string, r *rootSpec) (threads, above []string) {
	want := map[string]bool{strings.ReplaceAll(r.class, "/", ".") + "." + r.name: true}
	for _, id := range r.ids {
		want[id.Class.String()+"."+id.Name] = true
	}
	thread, last := "", ""
	for line := range strings.SplitSeq(dump, "\n") {
		switch t := strings.TrimSpace(line); {
		case strings.HasPrefix(line, `"`):
			if i := strings.LastIndexByte(line, '"'); i > 0 {
				thread = line[1:i]
				if j := strings.Index(thread, `" `); j > 0 {
					thread = thread[:j]
				}
			}
			last = ""
		case strings.HasPrefix(t, "at "):
			if i := strings.Index(t, "/"); i > 0 && i < strings.IndexByte(t, '(') {
				t = "at " + t[i+1:] // "at java.base@17/java.lang..."
			}
			if name, _, _ := strings.Cut(strings.TrimPrefix(t, "at "), "("); want[name] {
				if !slices.Contains(threads, thread) {
					threads = append(threads, thread)
				}
				if last != "" && !slices.Contains(above, last) {
					above = append(above, last)
				}
			}
			last, _, _ = strings.Cut(strings.TrimPrefix(t, "at "), "(")
		}
	}
	return threads, above
}

// callees are methods with code that a root calls directly. Of a pattern's
// many, a few have to do.
func (l *loop) callees(r *rootSpec) []string {
	var out []string
	for _, id := range r.ids[:min(20, len(r.ids))] {
		m := l.h.Method(id)
		if m == nil {
			continue
		}
		for _, c := range m.Calls {
			for _, t := range l.h.Targets(id.Class, c) {
				if k := l.h.Class(t.Class); k != nil && !k.Excluded && !strings.HasPrefix(t.Name, "<") && !slices.Contains(r.ids, t) {
					out = append(out, cha.ClassID.String(t.Class)+"."+t.Name)
				}
			}
		}
	}
	return out
}

func firstOf(s []string, n int) []string {
	var out []string
	for _, v := range s {
		if len(out) < n && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
