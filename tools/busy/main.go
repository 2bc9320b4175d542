// Command busy measures what attaching costs a busy server: the shop in a closed loop of
// eight connections. It writes docs/figures/busy.md. Run it from the repository's root by
// "go tool task bench:busy".
package main

import (
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(1, "busy.md", measure) }

const connections = 8

// lengths are those of the parts of a run.
type lengths struct{ warm, before, window time.Duration }

const intro = "The shop is asked by eight connections in a closed loop: 30 s to warm up, 10 s for the rate before, 40 s from the command on, 40 s from its end on. " +
	"Lost is seconds of service: the sum of 1 - share of the rate before, over these 40 s. Of \"nothing\" it is how the server drifts by itself. " +
	"While recording: the rate of seconds 20 to 40 in % of the one before. Gap: the longest time without any answer. " +
	"Armed: from the command until it recorded. Prepared: the JVM was started with the agent of `rivulet prepare --jar`."

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:busy", "A busy server", "What attaching to a server under load costs its service.")
	l := lengths{30 * time.Second, 10 * time.Second, 40 * time.Second}
	if k.Short {
		l = lengths{10 * time.Second, 5 * time.Second, 15 * time.Second}
	}
	m := &measuring{Kit: k, lengths: l}
	prepared := filepath.Join(k.Temp, "prepared.jar")
	if err := m.rivulet("prepare", "--jar", prepared); err != nil {
		return nil, err
	}
	for _, s := range sections {
		if !k.Has(s.name) {
			continue
		}
		page.Table(s.title, fmt.Sprintf(s.intro, intro), "JDK|", "prepared|", "way|", "rate before /s", "lost by arming s", "lost by leaving s", "while recording %",
			"gap arming ms", "gap leaving ms", "p99 before ms", "p99 arming ms", "longest ms", "armed s", "classes", "methods", "called", "late", "compiling s", "target's memory +MB")
		var curves []string
		for _, j := range k.JDKs {
			for _, options := range [][]string{nil, {"-javaagent:" + prepared}} {
				for _, w := range s.ways {
					if !k.Wants(w.name) || w.from > j.Version || s.only(options != nil) {
						continue
					}
					row, curve, err := m.repeated(j, options, w)
					if errors.Is(err, errAbsent) {
						page.Left(w.name, err)
						continue
					}
					if err != nil {
						page.Failed(fmt.Sprintf("%s, JDK %d", w.name, j.Version), err)
						continue
					}
					page.Row(append([]any{j.Version, yes(options != nil), w.name}, row...)...)
					curves = append(curves, fmt.Sprintf("%-3d %-4s %-22s %s", j.Version, yes(options != nil), w.name, curve))
				}
			}
		}
		if len(curves) > 0 {
			page.Text("The rate in % of the one before, every 5 s from the command on; after the bar every 5 s from its end on (JDK, prepared, way):\n\n```\n" + strings.Join(curves, "\n") + "\n```")
		}
	}
	return page, nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// repeated measures a way as often as asked, and returns the medians.
func (m *measuring) repeated(j jdk.JDK, options []string, w way) (row []any, curve string, err error) {
	var rows [][]float64
	for i := range m.Reps {
		log.Printf("JDK %d, prepared %s, %s, %d of %d", j.Version, yes(options != nil), w.name, i+1, m.Reps)
		r, err := m.run(j, options, w)
		if err != nil {
			return nil, "", err
		}
		rows, curve = append(rows, r.row()), r.curve()
	}
	for _, v := range bench.Medians(rows) {
		row = append(row, v)
	}
	return row, curve, nil
}
