package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

func TestTime(t *testing.T) {
	f := newFake()
	f.run(t, "time", "4711", "--root", "shop.Price.of", "--root", "shop.Stock.take", "--root", "shop.Price.of", "--for", "1ms", "--until-calls", "5", "--wait").
		want(t, 0, "shop.Price.of", "rivulet: stopped after 1.00 s")
	if diff := cmp.Diff(session.Timing{Roots: []string{"shop.Price.of", "shop.Stock.take"}, UntilCalls: 5, Wait: true}, f.timing); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := f.steps(); got != "attach time finish" {
		t.Error("steps:", got)
	}
	for _, form := range [][]string{{"--json"}, {"--format", "json"}, {"--json", "--format", "json"}} {
		r := newFake().run(t, append([]string{"time", "4711", "--root", "shop.Price.of", "--for", "1ms"}, form...)...)
		var got struct {
			Kind    string
			Methods []struct {
				Count int
				Mean  float64 `json:"mean_ns"`
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || got.Kind != "timing" || len(got.Methods) != 1 || got.Methods[0].Mean != 1000 {
			t.Errorf("%v: code %d, %v, %+v:\n%s", form, r.code, err, got, r.stdout)
		}
	}
}

// TestTimeFails has everything fail that can; the session must be closed, and
// no file be left.
func TestTimeFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		fake   *fake
		code   int
		stderr string
		steps  string
	}{
		{"attach", &fake{attachErr: session.ErrBusy}, 1, "rivulet: another Rivulet session is active", "attach"},
		{"bad root", &fake{startErr: fmt.Errorf("%w: a.B.c", roots.ErrNoRoot)}, 2, "rivulet: no such root: a.B.c\n", "attach time close"},
		{"start", &fake{startErr: session.ErrExited}, 1, "rivulet: the target has exited\n", "attach time close"},
		{"finish", &fake{finishErr: session.ErrSilent}, 1, "rivulet: the agent in the target does not answer\n", "attach time finish"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.fake.run(t, "time", "4711", "--root", "a.B.c", "--for", "1ms", "-o", filepath.Join(dir, "report")).want(t, test.code, "", test.stderr)
			if got := test.fake.steps(); got != test.steps {
				t.Errorf("steps: got %s, want %s", got, test.steps)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left in the folder: %v", left)
			}
		})
	}
}

func TestTimeInterrupt(t *testing.T) {
	f := newFake()
	f.onStart = func(*fake) { time.AfterFunc(20*time.Millisecond, func() { signalSelf(t, syscall.SIGINT) }) }
	f.run(t, "time", "4711", "--root", "a.B.c").want(t, 0, "shop.Price.of", "stopped after")
}

func TestTimeProgress(t *testing.T) {
	line := progressLine(session.Progress{Phase: "recording", Calls: 7, Times: "mean 1.00 ms"}, time.Second, 3)
	if !strings.HasSuffix(line, "7 calls (3/s), mean 1.00 ms") {
		t.Error(line)
	}
}
