package cli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func TestCompare(t *testing.T) {
	f := newFake()
	f.run(t, "compare", "4711", "--root", "shop.Price.of", "--schemes", "c,a").
		want(t, 0, "methods instrumented", "rivulet: recording by scheme A")
	if f.steps() != "compare:CA" || f.comparing.For != 10*time.Second {
		t.Errorf("%s, for %v", f.steps(), f.comparing.For)
	}
	f = newFake()
	r := f.run(t, "compare", "4711", "--root", "shop.Price.of", "--until-calls", "5", "--probes", "inlined", "--json")
	var got struct {
		Kind    string
		Schemes []struct {
			Scheme string
			Calls  int
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || got.Kind != "comparison" || len(got.Schemes) != len(spec.Schemes) || got.Schemes[2].Calls != 12 {
		t.Errorf("code %d, %v: %s", r.code, err, r.stdout)
	}
	if f.comparing.For != 0 || f.rec.UntilCalls != 5 || f.rec.Probes != "inlined" {
		t.Errorf("for %v, %+v", f.comparing.For, f.rec)
	}
	f = newFake()
	f.run(t, "run", "--compare", "--root", "shop.Main.main", "--schemes", "B", "--", "java", "-jar", "shop.jar").want(t, 0, "", "whole runs of java -jar shop.jar")
	if diff := cmp.Diff([]string{"java", "-jar", "shop.jar"}, f.argv); diff != "" || f.steps() != "compare:B" {
		t.Error(f.steps(), diff)
	}
}

func TestCompareFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		fake   *fake
		args   []string
		code   int
		stderr string
	}{
		{"busy", &fake{startErr: session.ErrBusy}, []string{"compare", "4711", "--root", "a.B.c"}, 1, "another Rivulet session is active"},
		{"bad root", &fake{startErr: roots.ErrNoRoot}, []string{"compare", "4711", "--root", "a.B.c"}, 2, "no such root"},
		{"in the middle", &fake{finishErr: session.ErrExited}, []string{"compare", "4711", "--root", "a.B.c"}, 1, "the target has exited"},
		{"no root", newFake(), []string{"compare", "4711"}, 2, "--root is missing"},
		{"scheme", newFake(), []string{"compare", "4711", "--root", "a.B.c", "--schemes", "A,E"}, 2, "there are schemes A, B, C and D"},
		{"format", newFake(), []string{"compare", "4711", "--root", "a.B.c", "--format", "html"}, 2, "there is only text and json"},
		{"one scheme", newFake(), []string{"run", "--compare", "--scheme", "A", "--root", "a.B.c", "--", "java"}, 2, "--scheme is nothing for --compare"},
		{"no comparison", newFake(), []string{"run", "--schemes", "A", "--root", "a.B.c", "--", "java"}, 2, "--schemes is for --compare"},
	} {
		t.Run(test.name, func(t *testing.T) { test.fake.run(t, test.args...).want(t, test.code, "", test.stderr) })
	}
}
