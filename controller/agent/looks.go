package agent

import (
	"context"
	"slices"
	"time"

	"go.starlark.net/starlark"
)

// A seen is the last root invocation of a record that was seen to end.
type seen struct {
	epoch    uint32 // of the recording: a reset begins another one
	returned int64
}

// exits are the records in which root invocations have ended since the last look.
func (h *Host) exits() (out []Exit) {
	if len(h.handlers(onExit)) == 0 {
		return nil
	}
	for _, e := range h.rec.Exits() {
		now := seen{e.Epoch, e.Returned}
		if now != h.seen[e.Record] {
			out = append(out, e)
		}
		h.seen[e.Record] = now
	}
	return out
}

func (h *Host) lookExits(ctx context.Context) error {
	for _, e := range h.exits() {
		err := h.lookExit(ctx, e)
		if e.Held {
			h.rec.Release(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) lookExit(ctx context.Context, e Exit) error {
	if !slices.ContainsFunc(h.handlers(onExit), func(w work) bool { return e.Took >= w.h.over }) {
		return nil
	}
	m, err := h.moment(ctx)
	if err == nil {
		h.exited(ctx, m, e)
	}
	return err
}

func (h *Host) exited(ctx context.Context, m *moment, e Exit) {
	for _, w := range h.handlers(onExit) {
		if e.Took >= w.h.over {
			w.s.activate(ctx, w.h, m, cause{onExit, e.Thread, e.Took})
		}
	}
}

func (h *Host) lookTime(ctx context.Context) error {
	var now *moment
	for _, w := range h.handlers(onTime) {
		if time.Now().Before(w.h.next) {
			continue
		}
		if now == nil {
			var err error
			if now, err = h.moment(ctx); err != nil {
				return err
			}
		}
		w.s.activate(ctx, w.h, now, cause{reason: onTime})
		w.h.next = w.h.next.Add(w.h.every)
		if late := time.Now(); w.h.next.Before(late) { // what was missed is not made up for
			w.h.next = late.Add(w.h.every)
		}
	}
	return nil
}

func (h *Host) lookBytecodes(ctx context.Context) error {
	works := h.handlers(onBytecodes)
	begin := time.Now()
	if len(works) == 0 || begin.Before(h.read) {
		return nil
	}
	m, err := h.moment(ctx)
	if err != nil {
		return err
	}
	h.read = begin.Add(max(lookEvery, readShare*time.Since(begin)))
	for _, w := range works {
		for _, t := range m.threads {
			k, n := t.key(), t.executed(m.table())
			if n < w.h.counted[k] { // a reset came between
				w.h.counted[k] = 0
			}
			each := w.h.count
			if own := w.h.each[k]; own > 0 {
				each = own
			}
			if n-w.h.counted[k] < each {
				continue
			}
			w.h.counted[k] = n
			w.h.each[k] = granularity(w.s.activate(ctx, w.h, m, cause{reason: onBytecodes, thread: t.id}))
		}
	}
	return nil
}

// granularity is what a function said after how many bytecodes it wants to be called again
// for a thread; 0 where it said nothing.
func granularity(v starlark.Value) int64 {
	n, ok := v.(starlark.Int)
	if !ok {
		return 0
	}
	k, _ := n.Int64()
	return max(k, 0)
}
