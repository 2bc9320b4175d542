package jfr

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Summary is what a recording has.
type Summary struct {
	Chunks    int
	Start     int64 // of the first chunk, ns since 1970
	Duration  int64 // from there to the end of the last one, ns
	Running   bool  // the last chunk was still being written
	JVM       string
	Arguments string // what the JVM was started with: main class or jar, and its arguments
	PID       int64
	Events    []Count // those with the most bytes first

	// Settings are those of the first chunk, by the name of the event, then by their own.
	Settings map[string]map[string]string
}

// A Count says how many events of a type there are.
type Count struct {
	Type     string `json:"type"`
	Label    string `json:"label"`
	Events   int64  `json:"count"`
	Bytes    int64  `json:"bytes"`
	Duration int64  `json:"duration_ns"` // of all of them
}

// Summarize reads a whole recording. What was read before an error is valid.
func Summarize(ctx context.Context, r *Reader) (*Summary, error) {
	s := &Summary{Settings: map[string]map[string]string{}}
	counts := map[string]*Count{}
	var chunk *Chunk
	names := map[int64]string{} // of the types of the chunk
	err := Each(ctx, r, nil, func(e *Event) error {
		if e.chunk != chunk {
			chunk = e.chunk
			clear(names)
			for id, t := range chunk.types {
				names[id] = t.Name
			}
			s.chunk(&chunk.Header)
		}
		n := counts[e.Type.Name]
		if n == nil {
			n = &Count{Type: e.Type.Name, Label: e.Type.Label}
			counts[e.Type.Name] = n
		}
		n.Events++
		n.Bytes += int64(e.Size)
		if d := e.Duration(); d > 0 {
			n.Duration += d
		}
		switch e.Type.Name {
		case "jdk.JVMInformation":
			s.JVM, s.Arguments, s.PID = e.Field("jvmVersion").Text(), e.Field("javaArguments").Text(), e.Field("pid").Int()
		case "jdk.ActiveSetting":
			event := names[e.Field("id").Int()]
			if s.Settings[event] == nil {
				s.Settings[event] = map[string]string{}
			}
			if name := e.Field("name").Text(); s.Settings[event][name] == "" {
				s.Settings[event][name] = e.Field("value").Text()
			}
		}
		return nil
	})
	for _, n := range counts {
		s.Events = append(s.Events, *n)
	}
	slices.SortFunc(s.Events, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type))
	})
	return s, err
}

func (s *Summary) chunk(h *Header) {
	if s.Chunks++; s.Start == 0 || h.Start < s.Start {
		s.Start = h.Start
	}
	s.Duration = max(s.Duration, h.Start+h.Duration-s.Start)
	s.Running = h.Running
}

// Count is how many events of a type there are.
func (s *Summary) Count(name string) int64 {
	for _, n := range s.Events {
		if n.Type == name {
			return n.Events
		}
	}
	return 0
}

// Setting is a setting of an event in a chunk that has jdk.ActiveSetting: what all recordings together want.
// Of several values it is the last one; "" if there is none.
func (c *Chunk) Setting(ctx context.Context, event, setting string) (value string, err error) {
	at := int64(-1)
	err = c.Events(ctx, func(t *Type) bool { return t.Name == "jdk.ActiveSetting" }, func(e *Event) error {
		of := c.types[e.Field("id").Int()]
		if when := e.Start(); of != nil && of.Name == event && when >= at && e.Field("name").Text() == setting {
			at, value = when, e.Field("value").Text()
		}
		return nil
	})
	return value, err
}

// Period is how often samples of a type were taken; 0 if that is not known.
func (s *Summary) Period(name string) time.Duration {
	d, _ := ParseSpan(s.Settings[name]["period"])
	return d
}
