package sampler

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A slow memory rests now and then between two readings, as a process does that gets no processor time.
type slow struct {
	vmstructs.Process
	reads int
}

func (m *slow) Read(p []byte, at uint64) error {
	if m.reads++; m.reads%17 == 0 {
		time.Sleep(2 * time.Millisecond)
	}
	return m.Process.Read(p, at)
}

// TestNames looks at threads for the first time while collections move their names: none has another object's text for its
// name, and none has another's number.
func TestNames(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/names.txtar")
		dir := a.Compile(t, j, 8)
		for _, collector := range []string{"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"} {
			p := jvmtest.Start(t, j, []string{"-Xmx32m", collector}, "Names", nil, dir)
			p.WaitLine("READY")
			numbers := map[string]int64{}
			for n := 0; n < 5 || len(numbers) == 0; n++ { // a number that is not sure is none
				s, err := Open(p.PID(), Options{Wall: true, Locks: true})
				if err != nil {
					t.Fatal(err)
				}
				s.u = unwinder.New(s.layout, &slow{Process: vmstructs.Process(p.PID())}, s.images, false)
				s.threads.u = s.u
				if !s.u.Ready() {
					t.Fatal("there is no compiled code")
				}
				all, err := s.Look()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := range all {
					k := &all[i]
					if strings.HasPrefix(k.Thread, "decoy") {
						t.Errorf("%s: thread %d is called %q", collector, k.TID, k.Thread)
					}
					if !strings.HasPrefix(k.Thread, "worker-") {
						continue
					}
					got = append(got, k.Thread)
					number := s.Number(k.TID)
					if was := numbers[k.Thread]; number != 0 && was != 0 && was != number {
						t.Errorf("%s: %s has the number %d, and had %d", collector, k.Thread, number, was)
					} else if number != 0 {
						numbers[k.Thread] = number
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, workers()) {
					t.Errorf("%s: %q", collector, got)
				}
				s.Close()
			}
			p.Send("end")
		}
	}, 8, 11, 17, 21, 25)
}

// workers are the names of the program's threads that wait.
func workers() (out []string) {
	for i := range 60 {
		out = append(out, "worker-"+strconv.Itoa(10+i))
	}
	return out
}
