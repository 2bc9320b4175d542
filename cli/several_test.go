package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// severalProgram makes as many calls as its argument says, once it is told to.
const severalProgram = `
public class Several {
    static long sink;
    static void leaf(int n) { sink += n; }
    static void root(int n) { for (int i = 0; i < 3; i++) leaf(n); }
    public static void main(String[] args) throws Exception {
        int calls = Integer.parseInt(args[0]);
        System.out.println("READY");
        System.in.read();
        for (int i = 0; i < calls; i++) root(i);
        System.out.println("DONE");
        Thread.sleep(600000);
    }
}`

// waitWriter tells when a text has been written.
type waitWriter struct {
	b     bytes.Buffer // not embedded: io.Copy would go round Write
	text  string
	found chan struct{}
}

func (w *waitWriter) String() string { return w.b.String() }

func (w *waitWriter) Write(b []byte) (int, error) {
	n, err := w.b.Write(b)
	if w.found != nil && strings.Contains(w.String(), w.text) {
		close(w.found)
		w.found = nil
	}
	return n, err
}

// TestProfileSeveral records three JVMs at once; one process that there isn't is named.
func TestProfileSeveral(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"Several.java": severalProgram})
	calls := []int{1000, 2000, 4000}
	args := []string{"profile", "--pid", "999999999"}
	var programs []*jvmtest.Proc
	for _, n := range calls {
		p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Several", []string{strconv.Itoa(n)}, dir)
		p.WaitLine("READY")
		programs = append(programs, p)
		args = append(args, strconv.Itoa(p.PID()))
	}
	cmd := exec.Command("rivulet", append(args, "--root", "Several.root", "--format", "json", "--scheme", "A")...)
	var out bytes.Buffer
	armed := make(chan struct{})
	errs := &waitWriter{text: "recording in 3 of 4 JVMs", found: armed}
	cmd.Stdout, cmd.Stderr = &out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	select {
	case <-armed:
	case <-time.After(2 * time.Minute):
		cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("not all JVMs were armed in two minutes: %s", errs.String())
	}
	for _, p := range programs {
		p.Send("go")
		p.WaitLine("DONE")
	}
	cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "999999999") {
		t.Errorf("code %d: %s", code, errs.String())
	}
	var r struct {
		Calls     int64
		Exact     bool
		Processes []struct {
			PID   int
			Main  string
			Calls int64
			Error string
		}
		Flat []struct {
			Method    string
			Calls     int64
			Processes struct{ Calls []int64 }
		}
		Threads []struct{ Thread string }
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	if r.Calls != 7000*4 || !r.Exact || len(r.Threads) != 1 || len(r.Processes) != 4 {
		t.Fatalf("%d calls, exact %v, threads %v, processes %v", r.Calls, r.Exact, r.Threads, r.Processes)
	}
	of := map[int]int{}
	for i, p := range r.Processes {
		of[p.PID] = i
		if (p.PID == 999999999) != (p.Error != "") {
			t.Errorf("%+v", p)
		}
	}
	for _, m := range r.Flat {
		each := int64(1)
		if strings.HasPrefix(m.Method, "Several.leaf") {
			each = 3
		}
		for i, p := range programs {
			if got, want := m.Processes.Calls[of[p.PID()]], each*int64(calls[i]); got != want {
				t.Errorf("%s has %d calls in pid %d, not %d", m.Method, got, p.PID(), want)
			}
		}
	}
}
