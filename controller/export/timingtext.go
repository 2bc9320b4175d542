package export

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Text writes the timing for people: a row for each method, those that took
// most first.
func (r *Timing) Text(w io.Writer, color bool) error {
	t := timingWriter{sink: sink{w: w}, Timing: r}
	main := r.Target.Main
	if main == "" {
		main = "JVM"
	}
	t.printf("%s (pid %d", Clean(main), r.Target.PID)
	if r.Target.Java != "" {
		t.printf(", Java %s", Clean(r.Target.Java))
	}
	t.printf(")\ntimed for %s", Duration(int64(r.Time)))
	if r.Ended != "" {
		t.printf(" (%s)", Clean(r.Ended))
	}
	t.text("\n\n")
	t.rows(color)
	t.footer()
	if err := t.flush(); err != nil {
		return fmt.Errorf("text timing: %w", err)
	}
	return nil
}

type timingWriter struct {
	sink
	*Timing
}

func (t *timingWriter) printf(format string, args ...any) { t.text(fmt.Sprintf(format, args...)) }

func (t *timingWriter) rows(color bool) {
	if len(t.Methods) == 0 {
		t.text("No method could be timed.\n")
		return
	}
	order := make([]*Timed, len(t.Methods))
	names := map[string]int{}
	for i := range t.Methods {
		order[i] = &t.Methods[i]
		names[order[i].short()]++
		names[order[i].Method]++
	}
	slices.SortStableFunc(order, func(a, b *Timed) int { return int(min(max(b.total-a.total, -1), 1)) })
	tb := table{head: []string{"count", "thrown", "total", "min", "mean", "p50", "p90", "p99", "p99.9", "max", "method"}}
	for _, m := range order {
		label := m.short()
		if names[label] > 1 {
			label = m.Method
		}
		if names[m.Method] > 1 {
			label += " [" + m.Loader + "]"
		}
		cells := []string{Count(m.Count)}
		if m.histogram != nil {
			thrown := ""
			if m.Thrown > 0 {
				thrown = Count(m.Thrown)
			}
			cells = append(cells, thrown, Duration(m.total), Duration(m.least), Duration(int64(math.Round(m.mean()))))
			for _, q := range quantiles {
				cells = append(cells, Duration(m.quantile(q)))
			}
			cells = append(cells, Duration(m.most))
		}
		cells = append(cells, make([]string, len(tb.head)-1-len(cells))...)
		tb.add(Clean(label), styleHot, cells...)
	}
	tb.write(&t.sink, color, 0)
}

// short is the method without its descriptor.
func (t *Timed) short() string {
	s, _, _ := strings.Cut(t.Method, "(")
	return s
}

func (t *timingWriter) footer() {
	t.text("\n")
	if k := t.Timer; k != nil {
		t.printf("timing an invocation takes %.0f ns here, of which %.0f ± %.0f ns fell into its time and are taken off\n", k.Call, k.Inner, max(k.Spread, 1))
		if slices.ContainsFunc(t.Methods, func(m Timed) bool { return m.histogram != nil && m.mean() < k.Call }) {
			t.text("a mean below that is less than the timer takes: it says that the method is short, and no more\n")
		}
	} else {
		t.text("what the timer takes could not be measured: times are as they were read\n")
	}
	if t.Refused > 0 {
		t.printf("%s beyond limit: --until-calls was reached\n", Plural(t.Refused, "call", "calls"))
	}
	t.printf("%s instrumented, %s, %s\n", Plural(int64(t.Redefinition.Classes), "class", "classes"),
		Plural(int64(t.Redefinition.Batches), "step", "steps"), Duration(int64(t.Redefinition.Time)))
	for i, s := range t.Skipped {
		if i == mostReasons {
			t.printf("not timed: %s more (all of them are in the JSON report)\n", Count(int64(len(t.Skipped)-i)))
			break
		}
		t.printf("not timed: %s: %s\n", Clean(s.Method), Clean(s.Reason))
	}
	for _, note := range t.Notes {
		t.printf("note: %s\n", Clean(note))
	}
}
