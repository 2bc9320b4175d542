package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// Tasks of a repetition, and repetitions. They are short, so that some are
// undisturbed; the best counts.
const (
	handedOver  = 2000
	handBefore  = 300
	handDuring  = 300
	handAfter   = 100
	firstLooms  = 21 // the first JDK with virtual threads
	partFollow  = "follow"
	handProgram = "work.HandOver"
)

// follow measures what handing a task over costs, beside the same recording
// that doesn't follow tasks.
func follow(k *bench.Kit, page *bench.Page) error {
	page.Table("A task handed over", fmt.Sprintf("%d empty tasks in each repetition, handed to a pool of one thread, forked, or to a virtual thread each, and waited for: the best recorded repetition less the best one without probes, by its tasks, "+
		"so that both threads' work is in it. A task costs a call or two without --follow, too. With --slowest the streams of events and the waits for the critical path are in it. One process each.", handedOver),
		"JDK|", "tasks|", "bare, ns a task", "not followed, + ns", "--follow, + ns", "--follow --slowest 10, + ns", "not followed of 10⁶")
	for _, j := range k.JDKs {
		for _, kind := range []string{"pool", "fork", "virtual"} {
			if !k.Wants(kind) || kind == "virtual" && j.Version < firstLooms {
				continue
			}
			cells := []any{j.Version, kind}
			var bare, missed float64
			var more []any
			for _, flags := range [][]string{nil, {"--follow"}, {"--follow", "--slowest", "10"}} {
				log.Printf("JDK %d, %s %v", j.Version, kind, flags)
				b, recorded, lost, err := handing(k, j, kind, flags)
				if err != nil {
					return fmt.Errorf("JDK %d, %s %v: %w", j.Version, kind, flags, err)
				}
				if bare == 0 || b < bare {
					bare = b
				}
				more = append(more, recorded-b)
				missed = max(missed, lost)
			}
			page.Row(append(append(cells, bare), append(more, whole(missed))...)...)
		}
	}
	return nil
}

// handing runs the program bare and recorded, in one process: ns a task, and how
// many of a million tasks were not followed.
func handing(k *bench.Kit, j jdk.JDK, kind string, flags []string) (bare, recorded, missed float64, err error) {
	t, err := k.Java(j, nil, handProgram, kind, strconv.Itoa(handedOver), strconv.Itoa(handBefore), strconv.Itoa(handDuring), strconv.Itoa(handAfter))
	if err != nil {
		return 0, 0, 0, err
	}
	defer t.Kill()
	rec, err := k.Record(t.PID, append([]string{"--root", handProgram + ".root"}, flags...)...)
	if err != nil {
		return 0, 0, 0, err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return 0, 0, 0, err
	}
	if _, err := rec.End(); err != nil {
		return 0, 0, 0, err
	}
	if err := t.Finish(); err != nil {
		return 0, 0, 0, err
	}
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return 0, 0, 0, err
	}
	var r struct {
		Invocations int64 `json:"root_invocations"`
		Unfollowed  int64 `json:"unfollowed"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return 0, 0, 0, err
	}
	if r.Invocations != handDuring {
		return 0, 0, 0, fmt.Errorf("%d root calls, want %d", r.Invocations, handDuring)
	}
	text := t.Out.All()
	laps := append(bench.Laps(text, "BARE"), bench.Laps(text, "POST")...)
	prof := bench.Laps(text, "PROF")
	if len(laps) == 0 || len(prof) == 0 {
		return 0, 0, 0, errors.New("the program printed no times")
	}
	return bench.Min(laps) / handedOver, bench.Min(prof) / handedOver, float64(r.Unfollowed) / (handDuring * handedOver) * 1e6, nil
}
