package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestJFR has a JVM record, reads the recording in all ways, and looks that nothing is
// left of it.
func TestJFR(t *testing.T) {
	text, err := os.ReadFile("testdata/Contention.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Contention.java": string(text)})
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := jvmtest.Start(t, j, nil, "Contention", []string{"busy"}, dir)
		p.WaitLine("ready")
		folder := t.TempDir()
		saved := filepath.Join(folder, "r.json")
		pid := fmt.Sprint(p.PID())
		run := func(args ...string) string {
			t.Helper()
			code, stdout, stderr := command(append([]string{"jfr"}, args...)...)
			if code != 0 {
				t.Fatalf("%q: code %d: %s", args, code, stderr)
			}
			return stdout
		}
		var events []string
		var file string
		sampled := false
		for i := 0; i < 30 && !(slices.Contains(events, "jdk.ThreadPark") && sampled); i++ { // a busy machine lets neither happen for a while
			file = filepath.Join(folder, fmt.Sprint(i, ".jfr"))
			text := run(pid, "--for", "1s", "--events", "jdk.ThreadPark,jdk.ExecutionSample", "--keep", file)
			events, sampled = eventsOf(t, text), false
			for line := range strings.Lines(text) { // a sample of another thread is not enough
				sampled = sampled || strings.Contains(line, `"jdk.ExecutionSample"`) && strings.Contains(line, `"name":"Contention"`)
			}
			if j.Version == 8 && slices.Contains(events, "jdk.ThreadPark") {
				break // its JFR has hardly a sample of compiled loops
			}
		}
		for _, e := range events {
			if e != "jdk.ThreadPark" && e != "jdk.ExecutionSample" {
				t.Errorf("an event %s that was not asked for", e)
			}
		}
		vm, err := attach.Open(t.Context(), p.PID())
		if err != nil {
			t.Fatal(err)
		}
		if r, err := vm.Execute(t.Context(), "jcmd", "JFR.check"); err != nil || !strings.Contains(r.Text, "No available recordings") {
			t.Errorf("after it: %v, %s", err, r.Text)
		}
		if got := eventsOf(t, run(file, "--events", "jdk.Thread*,jdk.Exec*")); len(got) != len(events) || len(got) == 0 {
			t.Errorf("%d events in the file, %d were written", len(got), len(events))
		}
		var s jfrJSON
		if err := json.Unmarshal([]byte(run(file, "--json")), &s); err != nil || s.Chunks < 1 || s.Kind != "jfr" || s.Seconds <= 0 {
			t.Errorf("%v, %+v", err, s)
		}
		if text := run(file); !strings.Contains(text, "jdk.ThreadPark") || !strings.Contains(text, "Java Thread Park") {
			t.Errorf("%s", text)
		}
		if j.Version == 8 {
			return
		}
		run(file, "--samples", "-o", saved)
		code, stdout, stderr := command("view", saved)
		if code != 0 || !strings.Contains(stdout, "Contention.main") { // not spin: on one core JDK 25 may sample the thread only when spin has returned
			t.Errorf("view: %d, %s, %s", code, stdout, stderr)
		}
	}, 8, 11, 17, 21, 25)
}

// eventsOf are the types of events that are given as JSON.
func eventsOf(t *testing.T, text string) (types []string) {
	t.Helper()
	var doc struct {
		Recording struct {
			Events []struct {
				Type string `json:"type"`
			} `json:"events"`
		} `json:"recording"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Recording.Events {
		types = append(types, e.Type)
	}
	return types
}
