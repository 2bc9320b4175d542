package jfr_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestOracle compares every event of recordings with what the JDK's own jfr print says of
// them, for both settings that a JDK has.
func TestOracle(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		tool := filepath.Join(j.Home, "bin", "jfr")
		if _, err := os.Stat(tool); err != nil {
			t.Skip("the JDK has no tool jfr")
		}
		classes := jvmtest.Compile(t, j, 8, map[string]string{"Busy.java": busy})
		both := []string{"default", "profile"}
		if os.Getenv("RIVULET_JDKS") != "all" {
			both = both[1:]
		}
		for _, settings := range both {
			file := filepath.Join(t.TempDir(), settings+".jfr")
			p := jvmtest.Start(t, j, []string{"-XX:StartFlightRecording=dumponexit=true,settings=" + settings + ",filename=" + file}, "Busy", []string{"1"}, classes)
			if code := p.Wait(); code != 0 {
				t.Fatalf("the program ended with %d", code)
			}
			out, err := exec.CommandContext(t.Context(), tool, "print", "--json", "--stack-depth", "1000", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			same(t, file, out, j.Version)
		}
	}, 8, 11, 17, 21, 25)
}

// busy allocates, waits for monitors and locks, throws, reads files and collects.
const busy = `
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class Busy {
	static final Object M = new Object();
	static final ReentrantLock L = new ReentrantLock();
	static volatile Object sink;

	static int work(int n) {
		int s = 0;
		for (int i = 0; i < n; i++) {
			s += Integer.toString(i).hashCode();
			sink = new byte[100 + i % 50];
		}
		return s;
	}

	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + Long.parseLong(args[0]) * 1000;
		Thread[] threads = new Thread[4];
		for (int t = 0; t < threads.length; t++) {
			final int k = t;
			threads[t] = new Thread("busy \u20ac " + k) {
				public void run() {
					try {
						while (System.currentTimeMillis() < end) {
							work(5000);
							synchronized (M) { Thread.sleep(15); }
							L.lock();
							try { Thread.sleep(12); } finally { L.unlock(); }
							sink = new byte[3000000];
							if (k == 0) { try { throw new Error("\u00fc \u20ac \ud83d\ude00"); } catch (Error e) { } }
							if (k == 1) { java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("/proc/self/status")); }
						}
					} catch (Exception e) { throw new Error(e); }
				}
			};
			threads[t].start();
		}
		for (Thread t : threads) { t.join(); }
		System.gc();
	}
}
`

// same compares a recording with jfr print's account of it, event by event.
func same(t *testing.T, file string, want []byte, version int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	var got bytes.Buffer
	w := jfr.NewJSONWriter(&got)
	err = jfr.Each(t.Context(), jfr.NewReader(f, info.Size(), jfr.Options{}), nil, w.Event)
	if err := errors.Join(err, w.End()); err != nil {
		t.Fatal(err)
	}
	ours, theirs := canonical(t, got.Bytes(), version < 21), canonical(t, want, version < 21)
	if len(ours) < 500 {
		t.Errorf("only %d events", len(ours))
	}
	t.Logf("%s: %d events", filepath.Base(file), len(ours))
	if len(ours) != len(theirs) {
		t.Errorf("%d events, jfr print has %d", len(ours), len(theirs))
	}
	wrong := 0
	for i := range min(len(ours), len(theirs)) {
		if ours[i] != theirs[i] {
			if wrong++; wrong < 4 {
				at := 0
				for at < min(len(ours[i]), len(theirs[i])) && ours[i][at] == theirs[i][at] {
					at++
				}
				t.Errorf("%.60s differs:\nours:      %.200s\njfr print: %.200s", ours[i], ours[i][max(0, at-60):], theirs[i][max(0, at-60):])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d events differ", wrong)
	}
}

// canonical is one line for each event, in order, with moments and spans in one form.
// Before JDK 21 jfr print shows unsigned numbers as signed ones: signed puts both together.
func canonical(t *testing.T, b []byte, signed bool) []string {
	t.Helper()
	var doc struct {
		Recording struct {
			Events []map[string]any `json:"events"`
		} `json:"recording"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range doc.Recording.Events {
		line, err := json.Marshal(normal(e, signed))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(line))
	}
	slices.Sort(out)
	return out
}

var spanForm = regexp.MustCompile(`^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$`)

func normal(v any, signed bool) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k], signed)
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i], signed)
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, _ := v.Float64()
			return fmt.Sprintf("%.6g", f)
		}
		n, _ := new(big.Int).SetString(string(v), 10)
		if signed {
			if n.Mod(n, big.NewInt(0).Lsh(big.NewInt(1), 64)); n.IsUint64() && (n.Uint64() < 1<<32 || int64(n.Uint64()) < 0 && int64(n.Uint64()) >= -1<<31) {
				return fmt.Sprint(uint32(n.Uint64()))
			}
		}
		return n.String()
	case string:
		if m := spanForm.FindStringSubmatch(v); m != nil {
			return span(m)
		}
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return v
}

// span is a span in seconds. What is beyond 292 years is said to be for ever: the JDKs
// overflow in different ways.
func span(m []string) string {
	sum := new(big.Rat)
	for i, unit := range []int64{3600, 60, 1} {
		if part, ok := new(big.Rat).SetString(m[i+1]); ok {
			sum.Add(sum, part.Mul(part, big.NewRat(unit, 1)))
		}
	}
	if sum.Cmp(big.NewRat(9223372036, 1)) >= 0 {
		return "for ever"
	}
	if sum.Cmp(big.NewRat(-9223372036, 1)) <= 0 {
		return "never"
	}
	return sum.FloatString(9) + " s"
}
