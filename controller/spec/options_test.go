package spec_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// values are two good values of each option, the default first, and bad ones.
var values = map[string]struct{ good, bad []string }{
	"root":        {[]string{"", "shop.Price.of"}, []string{"Price", "a.B.c(int)"}},
	"scheme":      {[]string{"auto", "A"}, []string{"E", ""}},
	"patience":    {[]string{"auto", "50ms", "10s"}, []string{"0", "1us", "11s", "long"}},
	"observe":     {[]string{"2s", "500ms"}, []string{"-1s", "11m", "long"}},
	"clock":       {[]string{"tick", "precise"}, []string{"sundial"}},
	"until-calls": {[]string{"0", "7"}, []string{"-1", "many"}},
	"overhead":    {[]string{"0%", "5%", "0.5%"}, []string{"5", "-1%", "0.01%", "2000%", "some"}},
	"every":       {[]string{"1", "20"}, []string{"0", "-1", "2000000", "some"}},
	"share":       {[]string{"100%", "5%"}, []string{"0%", "101%", "5", "some%", "NaN%"}},
	"wait":        {[]string{"off", "on"}, []string{"maybe"}},
	"filter":      {[]string{"", "--exclude shop.log.**"}, []string{"shop.*", "--exclude shop.[x", "--include a..b"}},
	"agents":      {[]string{"off", "on"}, []string{"some"}},
	"mode":        {[]string{"", "shop.util.*=counted"}, []string{"shop.util.*", "shop.util.*=loud", "a..b=off"}},
	"leaves":      {[]string{"counted", "timed"}, []string{"green"}},
	"cpu":         {[]string{"off", "on"}, []string{"2"}},
	"count":       {[]string{"", "bytecodes"}, []string{"sheep"}},
	"follow":      {[]string{"off", "on"}, []string{"yes"}},
	"roottimes":   {[]string{"on", "off"}, []string{"perhaps"}},
	"natives":     {[]string{"on", "all"}, []string{"some"}},
	"recursion":   {[]string{"expand", "fold"}, []string{"flat"}},
	"probes":      {[]string{"auto", "called"}, []string{"copied"}},
	"events":      {[]string{"off", "on"}, []string{"1"}},
	"slowest":     {[]string{"0", "20"}, []string{"100000", "-1", "some"}},
	"over":        {[]string{"0", "50ms"}, []string{"-1s", "long"}},
	"timeline":    {[]string{"off", "on"}, []string{"x"}},
	"warmup":      {[]string{"0", "500"}, []string{"soon", "-5s"}},
	"memory":      {[]string{"0", "1048576"}, []string{"lots", "-1"}},
}

// TestOptions sets each option by its text and by JSON, and wants both to read back as
// they were set. Every field of a recording has to be some option's, but Stream, which is
// a file of the command line's.
func TestOptions(t *testing.T) {
	set := map[string]bool{"Stream": true}
	for _, o := range spec.Options {
		v, ok := values[o.Name]
		if !ok {
			t.Fatalf("no values of %s to test with", o.Name)
		}
		r := spec.Default()
		if got := o.Get(&r); got != v.good[0] {
			t.Errorf("%s: by default %q, want %q", o.Name, got, v.good[0])
		}
		if err := o.Set(&r, v.good[1]); err != nil || o.Get(&r) != v.good[1] {
			t.Errorf("%s: %q, want %q, %v", o.Name, o.Get(&r), v.good[1], err)
		}
		a, b := reflect.ValueOf(spec.Default()), reflect.ValueOf(r)
		for i := range a.NumField() {
			if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				set[a.Type().Field(i).Name] = true
			}
		}
		text, err := json.Marshal(r)
		back := spec.Default()
		if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || !reflect.DeepEqual(r, back) || !strings.Contains(string(text), `"`+o.Field+`":`) {
			t.Errorf("%s: %s reads back as %+v, %v", o.Name, text, back, err)
		}
		if !o.IsList() && o.Name != "slowest" { // back to the default
			if err := o.Set(&r, v.good[0]); err != nil || o.Get(&r) != v.good[0] {
				t.Errorf("%s: back to %q: %q, %v", o.Name, v.good[0], o.Get(&r), err)
			}
		}
		before := r.Clone()
		for _, bad := range v.bad {
			var e *spec.Error
			if err := o.Set(&r, bad); !errors.As(err, &e) || e.Option != o.Name || !reflect.DeepEqual(r, before) {
				t.Errorf("%s %q: %v, %+v", o.Name, bad, err, r)
			}
		}
	}
	r := spec.Default()
	if err := spec.Find("warmup").Set(&r, "5s"); err != nil || r.Warmup != 5*time.Second || r.WarmupCalls != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	set["Warmup"] = true
	for i, k := 0, reflect.TypeFor[spec.Recording](); i < k.NumField(); i++ {
		if name := k.Field(i).Name; !set[name] {
			t.Errorf("no option sets %s", name)
		}
	}
}

// TestDocumented wants every option on the pages about the REST interface and about the
// terminal session.
func TestDocumented(t *testing.T) {
	for page, name := range map[string]func(*spec.Option) string{
		"formats-web.md": func(o *spec.Option) string { return o.Field },
		"terminal.md": func(o *spec.Option) string {
			switch o.Name {
			case "filter": // include, exclude, jdk and filters
				return "filters"
			case "wait": // the command wait waits
				return "--wait"
			}
			return o.Name
		},
	} {
		b, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range spec.Options {
			if !strings.Contains(string(b), "`"+name(o)) {
				t.Errorf("%s says nothing of %s", page, name(o))
			}
		}
	}
}

// TestJSON reads what changes a recording, and what makes no sense.
func TestJSON(t *testing.T) {
	base := spec.Default()
	base.Natives, base.Fold, base.Slowest, base.Over = "off", true, 5, time.Second
	for _, rule := range []string{"--jdk", "--exclude a.*"} {
		if err := base.Filter.Parse(rule); err != nil {
			t.Fatal(err)
		}
	}
	fields := func(r spec.Recording) (out map[string]any) {
		b, err := json.Marshal(r)
		if err := errors.Join(err, json.Unmarshal(b, &out)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for text, want := range map[string]string{
		`{}`: `{}`,
		`{"roots":["shop.Price::of","shop/Price#of"]}`:                                                  `{"roots":["shop.Price.of"]}`,
		`{"scheme":"b","natives":"","filter":["--jdk"]}`:                                                `{"scheme":"B","filter":["--jdk"]}`,
		`{"slowest":0,"recursion":"expand","modes":["x.*=off","y.*=tick"],"cpu":true,"leaves":"timed"}`: `{"slowest":0,"over":"0","recursion":"expand","modes":["x.*=off","y.*=tick"],"cpu":true,"leaves":"timed"}`,
		`{"slowest":3,"over":"50ms","filter":null}`:                                                     `{"slowest":3,"over":"50ms"}`,
		`{"timeline":true,"warmup":"500","memory":4096}`:                                                `{"timeline":true,"warmup":"500","memory":4096}`,
	} {
		r := base.Clone()
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Error(text, err)
		}
		changed := map[string]any{}
		for name, value := range fields(r) {
			if !reflect.DeepEqual(value, fields(base)[name]) {
				changed[name] = value
			}
		}
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil || !reflect.DeepEqual(changed, wanted) {
			t.Errorf("%s changes %v, want %s, %v", text, changed, want, err)
		}
	}
	for text, want := range map[string]string{
		`{"colour":"red"}`:              `unknown field "colour"`,
		`{"roots":"a.B.c"}`:             "roots: it is string, not a list of strings",
		`{"cpu":"on"}`:                  "cpu: it is string, not true or false",
		`{"until_calls":"7"}`:           "until_calls: it is string, not a number",
		`{"until_calls":-1}`:            "until_calls -1: it is below zero",
		`{"scheme":1}`:                  "scheme: it is number, not a string",
		`{"leaves":"green"}`:            `leaves "green": there is only counted and timed`,
		`{"modes":["a.*"]}`:             `modes "a.*": mode "": there are off, counted, tick and precise; give PATTERN=MODE, such as com.acme.util.*=counted`,
		`{"filter":["--exclude a..b"]}`: `filter "--exclude a..b": `,
		`[1]`:                           "cannot unmarshal",
		`{"roots":[` + strings.Repeat(`"a.B.c",`, 100) + `"a.B.c"]}`: "roots: more than 100",
	} {
		r := base.Clone()
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(r, base) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestValidate refuses what excludes each other.
func TestValidate(t *testing.T) {
	rule, err := spec.ParseModeRule("a.*=counted")
	if err != nil {
		t.Fatal(err)
	}
	one := []string{"a.B.c"}
	for _, test := range []struct {
		r    spec.Recording
		want string // "" is fine
	}{
		{spec.Recording{Roots: one}, ""},
		{spec.Recording{Roots: one, Modes: []spec.ModeRule{rule}, CPU: true, Leaves: "timed"}, ""},
		{spec.Recording{}, "root: no root given"},
		{spec.Recording{Roots: one, Scheme: "E"}, `scheme "E": there is only auto, A, B, C and D`},
		{spec.Recording{Roots: one, Leaves: "green"}, `leaves "green": there is only counted and timed`},
		{spec.Recording{Roots: one, Count: []string{"blocks", "allocations"}}, ""},
		{spec.Recording{Roots: one, Count: []string{"blocks", "bytecodes"}}, `count "bytecodes": a recording counts instructions in one way, and there is blocks, too; leave out one of both`},
		{spec.Recording{Roots: one, Count: []string{"arithmetic", "allocations", "branches"}}, `count "branches": a recording counts instructions in one way, and there is arithmetic, too; leave out one of both`},
		{spec.Recording{Roots: one, UntilCalls: -1}, "until-calls -1: "},
		{spec.Recording{Roots: one, Memory: -1}, "memory -1: "},
		{spec.Recording{Roots: one, Slowest: 100_000}, "slowest 100000: give a number from 1 to 1000"},
		{spec.Recording{Roots: one, Over: time.Second}, `over "1s": `},
		{spec.Recording{Roots: one, Over: -time.Second, Slowest: 1}, `over "-1s": `},
		{spec.Recording{Roots: one, Warmup: 1, WarmupCalls: 1}, "warmup: "},
		{spec.Recording{Roots: one, Fold: true, Timeline: 1}, `recursion "fold": events are`},
		{spec.Recording{Roots: one, Stream: 1, Modes: []spec.ModeRule{rule}}, `mode "a.*=counted": with events`},
	} {
		var e *spec.Error
		err := test.r.Validate()
		if (err == nil) != (test.want == "") || err != nil && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %s", test.r, err, test.want)
		}
	}
	e := spec.Recording{Roots: one, UntilCalls: -1}
	var wrong *spec.Error
	if errors.As(e.Validate(), &wrong); wrong == nil || !strings.HasPrefix(wrong.JSON(), "until_calls -1") {
		t.Errorf("in JSON: %v", wrong)
	}
}

// TestSize reads sizes.
func TestSize(t *testing.T) {
	for in, want := range map[string]int64{"1": 1, "64K": 64 << 10, "512m": 512 << 20, "2GB": 2 << 30} {
		if got, err := spec.ParseSize(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "M", "-1", "0", "1T", "1.5G", "99999999999G"} {
		if got, err := spec.ParseSize(in); err == nil {
			t.Errorf("%q: got %d", in, got)
		}
	}
}

// FuzzJSON wants what is read to be written the same, and nothing to be left half changed.
func FuzzJSON(f *testing.F) {
	f.Add(`{"roots":["a.B.c"],"slowest":3,"over":"50ms","modes":["a.*=tick"],"warmup":"500"}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := spec.Default()
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			if !reflect.DeepEqual(r, spec.Default()) {
				t.Errorf("after %v: %+v", err, r)
			}
			return
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back := spec.Default()
		if err := json.Unmarshal(b, &back); err != nil || back.Warmup != r.Warmup || back.Slowest != r.Slowest || back.Over != r.Over || len(back.Modes) != len(r.Modes) {
			t.Errorf("%s: %+v, then %+v, %v", b, r, back, err)
		}
	})
}
