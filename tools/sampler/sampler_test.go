package main

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// event is a sample in the form of "jfr print --json": frames "loader class
// method", the topmost one first.
func event(truncated bool, frames ...string) string {
	var list []string
	for _, f := range frames {
		p := strings.Fields(f)
		loader := `{"type":null,"name":"` + p[0] + `"}`
		if p[0] == "null" {
			loader = "null"
		}
		list = append(list, `{"method":{"type":{"classLoader":`+loader+`,"name":"`+p[1]+`","hidden":`+strconv.FormatBool(p[0] == "hidden")+
			`},"name":"`+p[2]+`","descriptor":"()V","hidden":false},"lineNumber":1}`)
	}
	return `{"type":"jdk.ExecutionSample","values":{"stackTrace":{"truncated":` + strconv.FormatBool(truncated) + `,"frames":[` + strings.Join(list, ",") + `]}}}`
}

func TestRead(t *testing.T) {
	text := `{"recording":{"events":[` + strings.Join([]string{
		event(false, `app a\/B work`, `app a\/B root`),
		event(false, `bootstrap java\/util\/List get`, `null java\/lang\/Object x`, `hidden a\/B$$Lambda run`, `app a\/B work`, `app a\/B root`),
		event(false, `app a\/B leaf`, `app a\/B work`, `app a\/B root`),
		event(false, `app a\/B other`, `app a\/Main main`), // outside the root
		event(true, `app a\/B deep`), // too deep to tell
		`{"type":"jdk.ExecutionSample","values":{"stackTrace":null}}`,
	}, ",") + `]}}`
	counted := map[string]bool{"a.B.leaf()V": true}
	s, err := read(strings.NewReader(text), "a.B.root", counted)
	if err != nil {
		t.Fatal(err)
	}
	if s.total != 4 || s.of["a.B.work()V"] != 3 || s.of["a.B.deep()V"] != 1 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", `{"recording":{}}`, text[:len(text)/2]} {
		if _, err := read(strings.NewReader(bad), "a.B.root", counted); err == nil {
			t.Errorf("no error in %.40q", bad)
		}
	}
}

func TestRank(t *testing.T) {
	list := rank([]bench.Method{
		{Method: "a()V", Calls: 1, Self: 500, Error: 10},
		{Method: "b()V", Calls: 2, Self: 300},
		{Method: "c()V", Calls: 3, Self: 200},
	}, samples{of: map[string]int{"a()V": 50, "b()V": 10, "x()V": 40}, total: 100})
	got := ""
	for _, e := range list {
		got += e.method[:1] + e.place() + " "
	}
	if got != "a1 b3 c- x2 " {
		t.Errorf("ranking %q", got)
	}
	if list[0].beyond() || !list[1].beyond() { // 50 and 50 %, 30 and 10 %
		t.Errorf("%+v", list[:2])
	}
	s := summarize(list)
	if s.common != 3 || len(s.missing) != 0 || math.Abs(s.distance-0.4) > 1e-9 {
		t.Errorf("%+v", s)
	}
}
