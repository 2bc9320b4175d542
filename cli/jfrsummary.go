package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// jfrJSON is the JSON form of a recording's summary.
type jfrJSON struct {
	Schema    int         `json:"schema"`
	Kind      string      `json:"kind"` // "jfr"
	File      string      `json:"file"`
	Chunks    int         `json:"chunks"`
	Start     time.Time   `json:"start"`
	Seconds   float64     `json:"seconds"`
	Running   bool        `json:"running"`
	JVM       string      `json:"jvm"`
	Arguments string      `json:"java_arguments"`
	PID       int64       `json:"pid"`
	Events    []jfr.Count `json:"events"`
	Damage    string      `json:"damage,omitempty"`
}

// maskLine leaves no secrets in a command line that was joined by spaces.
func maskLine(text string) string {
	return strings.Join(attach.MaskJoined(strings.Split(text, " ")), " ")
}

func writeSummary(w io.Writer, s *jfr.Summary, file string, asJSON bool, top int, damage error) error {
	start := time.Unix(0, s.Start).UTC()
	if asJSON {
		j := jfrJSON{
			Schema: export.Schema, Kind: "jfr", File: file, Chunks: s.Chunks, Start: start, Seconds: time.Duration(s.Duration).Seconds(),
			Running: s.Running, JVM: s.JVM, Arguments: maskLine(s.Arguments), PID: s.PID, Events: append([]jfr.Count{}, s.Events...),
		}
		if damage != nil {
			j.Damage = damage.Error()
		}
		return writeJSON(w, j)
	}
	var b strings.Builder
	events := int64(0)
	for _, n := range s.Events {
		events += n.Events
	}
	fmt.Fprintf(&b, "%s in %s, from %s on for %s\n", export.Plural(events, "event", "events"), export.Plural(int64(s.Chunks), "chunk", "chunks"),
		start.Format(time.DateTime+" MST"), export.Duration(s.Duration))
	if s.Running {
		b.WriteString("the JVM is still writing it; this is what it has flushed\n")
	}
	if s.JVM != "" {
		fmt.Fprintf(&b, "%s, process %d: %s\n", export.Clean(s.JVM), s.PID, export.Clean(maskLine(s.Arguments)))
	}
	rows := [][]string{{"EVENT", "COUNT", "BYTES", "TIME", "WHAT"}}
	shown := s.Events
	if top > 0 && len(shown) > top {
		shown = shown[:top]
	}
	for _, n := range shown {
		took := ""
		if n.Duration > 0 {
			took = export.Duration(n.Duration)
		}
		rows = append(rows, []string{n.Type, fmt.Sprint(n.Events), export.Bytes(n.Bytes), took, n.Label})
	}
	b.WriteString("\n" + table(rows, tableWidth(w)))
	if more := len(s.Events) - len(shown); more > 0 {
		fmt.Fprintf(&b, "... %d more; --top 0 shows all\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
