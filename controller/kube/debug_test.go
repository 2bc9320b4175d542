package kube

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// debugged is a cluster that adds ephemeral containers, or refuses them.
type debugged struct {
	local
	refuse func(e Ephemeral) error
	states []Container // of the ephemeral container, one for each look; the last stays
	added  []Ephemeral
	looks  int
}

func (d *debugged) AddEphemeral(_ context.Context, _ Place, e Ephemeral) error {
	d.added = append(d.added, e)
	if d.refuse != nil {
		return d.refuse(e)
	}
	return nil
}

func (d *debugged) Pod(context.Context, string, string) (*Pod, error) {
	c := d.states[min(d.looks, len(d.states)-1)]
	d.looks++
	c.Name = d.added[len(d.added)-1].Name
	return &Pod{Ephemeral: []Container{{Name: "another", Running: true}, c}}, nil
}

func says(text string) func(context.Context, Streams, []string) (bool, error) {
	return func(_ context.Context, s Streams, _ []string) (bool, error) {
		_, err := io.WriteString(s.Out, text)
		return true, err
	}
}

func mute(context.Context, Streams, []string) (bool, error) { return true, &ExitError{127} }

// TestDebugging adds a container that runs after a while, as the user of the JVM.
func TestDebugging(t *testing.T) {
	user := func(n int64) *int64 { return &n }
	security := &Error{Check: CheckSecurity, Cause: "no"}
	for name, one := range map[string]struct {
		own    func(context.Context, Streams, []string) (bool, error)
		given  *int64
		spec   *int64
		refuse func(Ephemeral) error
		user   *int64
		caps   bool
		tries  int
	}{
		"as the JVM":      {own: says("arch x86_64\njvm 1 1000\njava\x00\x00\n"), spec: user(7), user: user(1000), tries: 1},
		"as told":         {own: says("arch x86_64\njvm 1 1000\njava\x00\x00\n"), given: user(5), user: user(5), tries: 1},
		"as the pod says": {own: mute, spec: user(7), user: user(7), tries: 1},
		"as the image":    {own: mute, caps: true, tries: 1},
		"root without any cap": {own: mute, spec: user(0), user: user(0), tries: 2, refuse: func(e Ephemeral) error {
			if len(e.Caps) > 0 {
				return security
			}
			return nil
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &debugged{local: local{own: one.own}, refuse: one.refuse, states: []Container{{State: "ContainerCreating"}, {State: "PodInitializing"}, {Running: true}}}
			w := &Debugging{Image: "rivulet:1", User: one.given, Pull: time.Minute}
			ready, err := w.Prepare(t.Context(), d, &Pod{Namespace: "shop", Name: "orders-1"}, &Container{Name: "app", User: one.spec}, func(string) {})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e := d.added[len(d.added)-1]
			if len(d.added) != one.tries || (len(e.Caps) > 0) != one.caps || (e.User == nil) != (one.user == nil) || e.User != nil && *e.User != *one.user {
				t.Errorf("%s: %+v", name, d.added)
			}
			if ready.At != (Place{"shop", "orders-1", e.Name}) || !slices.Equal(ready.Command, []string{program, WorkerName, "--held", e.Name}) || ready.Unlink {
				t.Errorf("%s: %+v", name, ready)
			}
		})
	}
	d := &debugged{local: local{own: says("arch x86_64\n")}}
	if ready, err := (&Debugging{}).Prepare(t.Context(), d, &Pod{}, &Container{}, func(string) {}); ready != nil || err != nil || len(d.added) > 0 {
		t.Errorf("a container without a JVM: %+v, %v", ready, err)
	}
}

// TestDebuggingFails says why a container does not come.
func TestDebuggingFails(t *testing.T) {
	for state, says := range map[string]string{
		"ImagePullBackOff: Back-off pulling":              "that the cluster can pull",
		"CreateContainerConfigError: runAsNonRoot":        "--user",
		"RunContainerError: no such file":                 program,
		"ContainerCreating":                               "within 1m0s: ContainerCreating",
		"ended with code 1: Error: nobody came: deadline": "nobody came",
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &debugged{local: local{own: mute}, states: []Container{{State: state, Exited: strings.HasPrefix(state, "ended")}}}
			_, err := (&Debugging{Image: "rivulet:1", Pull: time.Minute}).Prepare(t.Context(), d, &Pod{Name: "orders-1"}, &Container{}, func(string) {})
			if checkOf(err) != CheckImage || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", state, err)
			}
		})
	}
	d := &debugged{local: local{own: mute}, refuse: func(Ephemeral) error { return &Error{Check: CheckRBAC} }}
	if _, err := (&Debugging{}).Prepare(t.Context(), d, &Pod{}, &Container{}, func(string) {}); checkOf(err) != CheckRBAC || len(d.added) != 1 {
		t.Errorf("%v after %d tries", err, len(d.added))
	}
}

// TestHold ends with the worker, and by itself when none comes.
func TestHold(t *testing.T) {
	name := strings.ToLower(t.Name()) + time.Now().Format("150405.000000")
	ended := make(chan error, 1)
	go func() { ended <- Hold(name, time.Minute) }()
	release, err := Held(name)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before its worker: %v", err)
	default:
	}
	release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := Hold(name, time.Millisecond); err == nil {
		t.Error("nobody came, and no error")
	}
}
