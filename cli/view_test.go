package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestViewComparison shows a comparison that was saved, and says where one is no
// report.
func TestViewComparison(t *testing.T) {
	c := &export.Comparison{
		Clock: "tick", Roots: []string{"shop.Price.of"},
		Runs: []export.SchemeRun{
			{Scheme: "A", Calls: 7000, Invocations: 1000, Exact: true, Instrumented: 90, Called: 3, Time: time.Second},
			{Scheme: "B", Calls: 7000, Invocations: 1000, Exact: true, Instrumented: 9, Called: 3, Time: time.Second},
		},
	}
	var text, saved bytes.Buffer
	if err := c.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.JSON(&saved); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "compared.json")
	if err := os.WriteFile(file, saved.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := rivulet(t, "", "view", file); code != 0 || out != text.String() {
		t.Errorf("code %d, %s\n%s, want\n%s", code, errs, out, text.String())
	}
	if code, out, errs := rivulet(t, saved.String(), "view", "-", "--format", "json"); code != 0 || out != saved.String() {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
	for _, args := range [][]string{
		{"view", file, "--top", "5"}, {"view", file, "--format", "pprof"}, {"diff", file, file}, {"merge", file, file},
	} {
		if code, out, errs := rivulet(t, "", args...); code != 2 || out != "" || !strings.Contains(errs, "comparison of schemes") {
			t.Errorf("%v: code %d, %s%s", args, code, out, errs)
		}
	}
}

// TestShowPageFlags refuses what makes no sense beside a page, before any file is read.
func TestShowPageFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"view", "none", "--ui", "-o", "x.html"}, "leave out --output, or --ui"},
		{[]string{"view", "none", "--ui", "--top", "3"}, "leave out --top, or --ui"},
		{[]string{"diff", "none", "none", "--ui", "--json"}, "leave out --json, or --ui"},
		{[]string{"diff", "none", "none", "--listen", "127.0.0.1:0"}, "give --ui with it"},
		{[]string{"view", "none", "--ui"}, "no such file"},
	} {
		if code, out, errs := rivulet(t, "", test.args...); code != 2 || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%v: code %d, %s%s", test.args, code, out, errs)
		}
	}
}
