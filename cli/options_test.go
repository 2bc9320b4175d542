package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// recordings compares recordings with the patterns in them.
var recordings = cmp.Comparer(func(a, b filter.Pattern) bool { return a.String() == b.String() })

// TestSameOptions gives a session the same options by flags, by the REST interface, and by
// a script of the terminal session, and wants the same recording of each.
func TestSameOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		flags  []string
		json   string
		script string
		want   spec.Recording
	}{
		{
			"leaves, time on a core, modes",
			[]string{"--leaves", "timed", "--cpu", "--mode", "shop.util.*=counted", "--mode", "shop.Price.of=precise"},
			`"leaves":"timed","cpu":true,"modes":["shop.util.*=counted","shop.Price.of=precise"]`,
			"leaves timed\ncpu on\nmode shop.util.*=counted\nmode shop.Price.of=precise",
			spec.Recording{Scheme: "auto", Observe: 2 * time.Second, Every: 1, Clock: "tick", Natives: "on", RootTimes: "on", Leaves: "timed", Probes: "auto", CPU: true, Modes: []spec.ModeRule{mode(t, "shop.util.*=counted"), mode(t, "shop.Price.of=precise")}},
		},
		{
			"the rest",
			[]string{"--scheme", "a", "--observe", "5s", "--share", "5%", "--clock", "precise", "--natives", "all", "--roottimes", "off", "--recursion", "fold", "--probes", "called", "--follow", "--warmup", "500", "--until-calls", "7", "--exclude", "shop.log.**"},
			`"scheme":"a","observe":"5s","every":20,"clock":"precise","natives":"all","root_times":"off","recursion":"fold","probes":"called","follow":true,"warmup":"500","until_calls":7,"filter":["--exclude shop.log.**"]`,
			"scheme a\nobserve 5s\nshare 5%\nclock precise\nnatives all\nroottimes off\nrecursion fold\nprobes called\nfollow on\nwarmup 500\nuntil-calls 7\nexclude shop.log.**",
			spec.Recording{Scheme: "A", Observe: 5 * time.Second, Every: 20, Clock: "precise", Natives: "all", RootTimes: "off", Leaves: "counted", Probes: "called", Fold: true, Follow: true, WarmupCalls: 500, UntilCalls: 7, Filter: excluding(t, "shop.log.**")},
		},
		{
			"events",
			[]string{"--record", "events", "--slowest", "3", "--over", "50ms"},
			`"events":true,"slowest":3,"over":"50ms"`,
			"events on\nslowest 3\nover 50ms",
			spec.Recording{Scheme: "auto", Observe: 2 * time.Second, Every: 1, Clock: "tick", Natives: "on", RootTimes: "on", Leaves: "counted", Probes: "auto", Events: true, Slowest: 3, Over: 50 * time.Millisecond},
		},
	} {
		test.want.Roots = []string{"shop.Price.of"}
		f := newFake()
		f.run(t, append([]string{"profile", "4711", "--root", "shop.Price::of", "--for", "1ms"}, test.flags...)...).want(t, 0, "", "")
		byFlags := f.rec
		f = newFake()
		f.serving(t, func(call func(path, body string) string) {
			call("attach", `{"pid":4711}`)
			if got := call("start", `{"roots":["shop.Price::of"],`+test.json+`}`); !strings.Contains(got, `"phase":"recording"`) {
				t.Error(test.name, "by JSON:", got)
			}
		}, "serve")
		byJSON := f.rec
		f = newFake()
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(test.script+"\nstart shop.Price::of\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.run(t, "attach", "4711", "--script", file).want(t, 0, "", "")
		for how, got := range map[string]spec.Recording{"flags": byFlags, "JSON": byJSON, "a script": f.rec} {
			if diff := cmp.Diff(test.want, got, recordings); diff != "" {
				t.Errorf("%s, by %s: -want +got:\n%s", test.name, how, diff)
			}
		}
	}
}

var _ modeSetter = (*session.Session)(nil)

func mode(t *testing.T, text string) spec.ModeRule {
	t.Helper()
	m, err := spec.ParseModeRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func excluding(t *testing.T, pattern string) (s filter.Set) {
	t.Helper()
	if err := s.Add(pattern, false); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryOptionIsAFlag wants the command line to have a flag of each option. Events and
// timelines are --record and --trace, filters --include and --exclude.
func TestEveryOptionIsAFlag(t *testing.T) {
	help := newFake().run(t, "profile", "--help").stdout
	flagOf := func(option string) string {
		if flag := map[string]string{"events": "record", "timeline": "trace", "filter": "exclude"}[option]; flag != "" {
			return flag
		}
		return option
	}
	for _, o := range spec.Options {
		if !strings.Contains(help, "--"+flagOf(o.Name)+" ") {
			t.Errorf("no flag of %s", o.Name)
		}
	}
}

// TestPageDefaults wants the options of the command line to hold for what the page begins
// later, where it says nothing else, and what makes no sense together to be refused.
func TestPageDefaults(t *testing.T) {
	f := newFake()
	f.serving(t, func(call func(path, body string) string) {
		if got := call("state", ""); !strings.Contains(got, `"defaults":{`) || !strings.Contains(got, `"leaves":"timed"`) {
			t.Error("the state:", got)
		}
		call("stop", "{}")
		if got := call("start", `{"roots":["a.B.c"],"natives":"all","filter":["--jdk"]}`); !strings.Contains(got, `"phase":"recording"`) {
			t.Error(got)
		}
		if r := f.rec; r.Natives != "all" || r.Leaves != "timed" || !r.Fold || !r.CPU || r.UntilCalls != 0 || len(r.Modes) != 1 || !r.Filter.JDK || len(r.Filter.Rules) != 0 || r.Roots[0] != "a.B.c" {
			t.Errorf("%+v", r)
		}
		call("stop", "{}")
		for body, want := range map[string]string{
			`{"roots":["Price"]}`:                                                            "no class before the method",
			`{"roots":["a.B.c"],"filter":["--exclude a.[x"]}`:                                "patterns are",
			`{"roots":["a.B.c"],"natives":"some"}`:                                           `natives \"some\": there is only off, on and all`,
			`{"roots":["a.B.c"],"warmup":"soon"}`:                                            "give a time such as 5s",
			`{"roots":["a.B.c"],"slowest":1}`:                                                "folding does not tell apart", // by the command line
			`{"roots":["a.B.c"],"modes":["a.*"]}`:                                            "PATTERN=MODE",
			`{"roots":["a.B.c"],"until_calls":-1}`:                                           "until_calls -1",
			`{"roots":["a.B.c"],"recursion":"expand","events":true,"modes":["a.*=counted"]}`: "with events there are off",
		} {
			if got := call("start", body); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
	}, "profile", "4711", "--ui", "--root", "shop.Price.of", "--leaves", "timed", "--cpu", "--recursion", "fold", "--mode", "a.*=off", "--until-calls", "3", "--exclude", "x.**")
}
