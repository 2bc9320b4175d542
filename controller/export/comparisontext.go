package export

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Text writes the comparison for people: a column for each scheme, a line for
// each figure, and the advice. Figures that were not measured are left out.
func (c *Comparison) Text(w io.Writer, o TextOptions) error {
	t := textWriter{sink: sink{w: w}, report: &Report{Target: c.Target, Roots: c.Roots, Notes: c.Notes}, o: o}
	t.wrapped(func() {
		t.target()
		if len(c.Command) > 0 {
			t.printf("whole runs of %s\n", Clean(strings.Join(c.Command, " ")))
		}
		t.printf("%s; one scheme after another\n", Clean(ClockName(c.Clock)))
	})
	t.text("\n")
	c.table().write(&t.sink, o.Color, o.Width)
	t.text("\n")
	t.wrapped(func() {
		t.printf("%s\n", Clean(c.Advice()))
		t.notes()
	})
	if err := t.flush(); err != nil {
		return fmt.Errorf("text of the comparison: %w", err)
	}
	return nil
}

// A line is a figure of each scheme; a text "" is one that was not measured.
type line struct {
	label string
	style string
	bare  func(*Comparison) string // nil where it makes no sense
	of    func(*Comparison, *SchemeRun) string
}

// lines are the figures: those of Dmitriev, "Design of JFluid", Tables 1 and 2, first.
var lines = []line{
	{label: "calls", of: func(_ *Comparison, s *SchemeRun) string { return Count(s.Calls) }},
	{label: "calls a second", of: func(c *Comparison, s *SchemeRun) string { return ofLive(c, Count(int64(s.rate()))) }},
	{
		label: "time of the program", style: styleHot, bare: func(c *Comparison) string { return span(c.Whole) },
		of: func(_ *Comparison, s *SchemeRun) string { return span(s.Whole) },
	},
	{label: "total time (all threads)", of: func(_ *Comparison, s *SchemeRun) string { return span(s.Charged) }},
	{label: "overhead", style: styleHot, of: func(c *Comparison, s *SchemeRun) string {
		share, ok := c.Overhead(s)
		if !ok {
			return ""
		}
		return fmt.Sprintf("%.1f %%", 100*share)
	}},
	{label: "in probes (overhead removed)", of: func(_ *Comparison, s *SchemeRun) string { return part(s, s.Subtracted) }},
	{label: "in hotswapping", of: func(_ *Comparison, s *SchemeRun) string { return part(s, &s.Redefinition.Time) }},
	{label: "in analysis and rewriting", of: func(_ *Comparison, s *SchemeRun) string { return part(s, s.Redefinition.Analysis) }},
	{label: "in processing data", of: func(_ *Comparison, s *SchemeRun) string { return part(s, &s.Processing) }},
	{label: "methods instrumented", of: func(_ *Comparison, s *SchemeRun) string { return Count(int64(s.Instrumented)) }},
	{label: "methods called", of: func(_ *Comparison, s *SchemeRun) string { return Count(int64(s.Called)) }},
	{label: "of those instrumented", of: func(_ *Comparison, s *SchemeRun) string { return share(int64(s.Called), int64(s.Instrumented)) }},
	{
		label: "root calls", bare: func(c *Comparison) string { return c.Root.write(func() string { return Count(c.Root.Invocations) }) },
		of: func(_ *Comparison, s *SchemeRun) string { return Count(s.Invocations) },
	},
	{
		label: "mean root time, with probes and waits", bare: func(c *Comparison) string {
			return c.Root.write(func() string { return Duration(int64(c.Root.Mean())) })
		},
		of: func(_ *Comparison, s *SchemeRun) string {
			return s.some(func() string { return Duration(int64(s.RootMean())) })
		},
	},
	{label: "mean root time, overhead removed", of: func(_ *Comparison, s *SchemeRun) string {
		if s.Charged == nil {
			return ""
		}
		return s.some(func() string { return Duration(int64(mean(float64(*s.Charged), s.Invocations))) })
	}},
	{label: "classes instrumented", of: func(_ *Comparison, s *SchemeRun) string { return Count(int64(s.Redefinition.Classes)) }},
	{label: "steps", of: func(_ *Comparison, s *SchemeRun) string { return Count(int64(s.Redefinition.Batches)) }},
	{label: "instrumenting", of: func(_ *Comparison, s *SchemeRun) string { return span(&s.Redefinition.Time) }},
	{label: "longest pause of all threads", of: func(_ *Comparison, s *SchemeRun) string { return span(s.Redefinition.LongestPause) }},
	{label: "all pauses", of: func(_ *Comparison, s *SchemeRun) string { return span(s.Redefinition.Pauses) }},
	{label: "longest wait of a thread inside", of: func(_ *Comparison, s *SchemeRun) string { return span(s.Redefinition.LongestWait) }},
	{label: "paused by Rivulet, all threads", of: func(_ *Comparison, s *SchemeRun) string { return span(&s.Suspended) }},
	{label: "Rivulet's analysis", of: func(_ *Comparison, s *SchemeRun) string { return span(s.Redefinition.Analysis) }},
	{label: "from the command until it recorded", of: func(_ *Comparison, s *SchemeRun) string { return span(&s.Armed) }},
	{label: "duration", of: func(_ *Comparison, s *SchemeRun) string { return span(&s.Time) }},
}

// table has the lines of which anything was measured.
func (c *Comparison) table() *table {
	tb := &table{head: []string{"bare"}}
	for i := range c.Runs {
		tb.head = append(tb.head, c.Runs[i].Scheme)
	}
	tb.head = append(tb.head, "")
	for _, l := range lines {
		cells := []string{""}
		if l.bare != nil {
			cells[0] = l.bare(c)
		}
		for i := range c.Runs {
			cells = append(cells, l.of(c, &c.Runs[i]))
		}
		if strings.Join(cells, "") != "" {
			tb.add(l.label, l.style, cells...)
		}
	}
	return tb
}

func span(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return Duration(int64(*d))
}

// part is a share of the program's time, of whole runs.
func part(s *SchemeRun, d *time.Duration) string {
	if s.Whole == nil || d == nil {
		return ""
	}
	return share(int64(*d), int64(*s.Whole))
}

func ofLive(c *Comparison, text string) string {
	if c.Command != nil {
		return ""
	}
	return text
}

// write writes a figure of a root, if it was called.
func (b *BareRoot) write(text func() string) string {
	if b == nil || b.Invocations == 0 {
		return ""
	}
	return text()
}

// some writes a figure of root invocations, if there were any.
func (s *SchemeRun) some(text func() string) string {
	if s.Invocations == 0 {
		return ""
	}
	return text()
}
