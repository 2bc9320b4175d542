package session

import (
	"context"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/allocation"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// Sizes are read again while some type has none: its class may not be loaded yet.
const (
	sizesFirst   = 100 * time.Millisecond
	sizesLongest = 10 * time.Second
)

// allocates tells whether allocations are counted.
func (s *Session) allocates() bool { return s.metrics.Index(metric.Objects.Name) >= 0 }

// setAllocations has the ledger's probes count allocations, in arrays as this JVM
// lays them out.
func (s *Session) setAllocations(at allocation.Layout) error {
	x := probe.Allocated{
		Class: s.bundle.Part("Allocated"), Object: "object", Array: "array", Arrays: "arrays",
		Shape: at.Shape, Boxed: "boxed", BoxedInt: "boxedInt", Chars: s.proc.Major() < 9,
	}
	if s.survives() {
		x.Survivors, x.Survivor, x.SurvivingArray, x.SurvivingBox = s.bundle.Part("Survivors"), "object", "array", "boxed"
	}
	if s.called {
		x.Object, x.Array = "objectCall", "arrayCall"
		x.Survivor, x.SurvivingArray = "objectCall", "arrayCall"
	}
	s.loop.allocations = allocation.New(s.loop.ledger, s.loop.h, at)
	return s.loop.ledger.AllocateBy(x)
}

// arrayLayout asks the target for it. Where it doesn't say, that of nearly all is taken.
func (s *Session) arrayLayout(ctx context.Context) allocation.Layout {
	flags, err := vmstructs.Flags(s.proc.PID, allocation.Flags...)
	if err != nil && s.vm != nil {
		s.log.Debug("flags by attach", "error", err)
		all, flagsErr := s.vm.Flags(ctx)
		if err = flagsErr; err == nil {
			flags = map[string]int64{}
			for _, name := range allocation.Flags {
				if f, ok := all[name]; ok {
					n, _ := strconv.ParseInt(f.Value, 10, 64)
					if f.Value == "true" {
						n = 1
					}
					flags[name] = n
				}
			}
		}
	}
	at, ok := allocation.LayoutOf(flags, s.proc.Major())
	if err != nil || !ok {
		s.log.Debug("array layout not known", "error", err)
		return allocation.Usual
	}
	return at
}

// readSizes asks the target's memory for the sizes of types, until all are known and
// as long as the session lasts.
func (s *Session) readSizes() {
	pause, most := sizesFirst, 0
	for {
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
		var names int
		if s.do(s.ctx, func() { names = len(s.loop.allocations.Unsized()) }) != nil {
			return
		}
		found := 0
		if names > 0 {
			var err error
			if found, err = s.readSizesOnce(s.ctx); err != nil {
				s.log.Debug("sizes of types", "error", err)
				_ = s.do(s.ctx, func() { s.loop.allocations.NoSizes() })
				return
			}
		}
		if pause = min(pause*3/2, sizesLongest); found > 0 || names > most {
			pause = sizesFirst
		}
		most = max(most, names-found)
	}
}

// lastSizes asks once more, while the target is still there.
func (s *Session) lastSizes(ctx context.Context) {
	missing := false
	if !s.allocates() || s.do(ctx, func() { missing = len(s.loop.allocations.Unsized()) > 0 || s.loop.ledger.Reflects() }) != nil || !missing {
		return
	}
	if _, err := s.readSizesOnce(ctx); err != nil {
		s.log.Debug("sizes of types", "error", err)
	}
}

func (s *Session) readSizesOnce(ctx context.Context) (found int, err error) {
	sizes, err := vmstructs.Sizes(s.proc.PID)
	if err != nil {
		return 0, err
	}
	return found, s.do(ctx, func() { found = s.loop.allocations.Sized(sizes) })
}
