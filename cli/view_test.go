package cli_test

import (
	"bytes"
	"encoding/json"
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

// TestCheck wants the exit code of a gate: 0 where nothing has grown, 1 where something
// has, 2 where that can't be said.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := func(name, counts string) string {
		name = filepath.Join(dir, name)
		text := `{"schema":1,"calls":4,"exact":true,"root_invocations":2,"metrics":[` + counts + `],"threads":[{"thread":"main","thread_id":1,"root_invocations":2,"open_invocations":0,"trees":1}],` +
			`"flat":[],"tree":[{"method":"a.B.c()V","thread":"main","thread_id":1,"calls":4,"self_bytecodes":` + strings.Repeat("1", len(name)-len(dir)-len("/x.json")) + `0,"children":[]}]}`
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const row = `{"name":"bytecodes","title":"bytecodes","unit":"count","merge":"sum","self":"self_bytecodes"}`
	small, large, none := file("aa.json", row), file("aaa.json", row), file("a.json", "")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{large, small}, 0, "passed: bytecodes a root call: 55 before, 5 after, -90.9 %"},
		{[]string{small, large, "--json"}, 1, `"passed": false`},
		{[]string{small, large, "--max-growth", "1000%"}, 0, "+1e+03 %; at most +1e+03 %"},
		{[]string{small, large, "--max-growth", "lots"}, 2, "give a share such as 1%"},
		{[]string{small, none}, 2, "has no bytecodes; record it with --count bytecodes"},
		{[]string{small, none, "--metric", "calls"}, 0, "passed: calls"},
		{[]string{small, filepath.Join(dir, "lost")}, 2, "no such file"},
	} {
		if code, out, errs := rivulet(t, "", append([]string{"check"}, test.args...)...); code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("%v: code %d, %s%s", test.args, code, out, errs)
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

// TestViewFolder lists the recordings of a folder, and says what a folder without any lacks.
func TestViewFolder(t *testing.T) {
	folder := t.TempDir()
	if code, _, errs := rivulet(t, "", "view", folder); code != 2 || !strings.Contains(errs, "there is no recording in it") {
		t.Errorf("an empty folder: %d %s", code, errs)
	}
	report := filepath.Join("..", "controller", "export", "testdata", "report.json")
	for _, name := range []string{"monday.rivulet", "tuesday.rivulet"} {
		if code, _, errs := rivulet(t, "", "view", report, "-o", filepath.Join(folder, name)); code != 0 {
			t.Fatal(errs)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := rivulet(t, "", "view", folder)
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[1], "monday.rivulet ") || !strings.Contains(lines[1], "3,650") || !strings.Contains(lines[1], "shop.Main") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	code, out, _ = rivulet(t, "", "view", folder, "--format", "json")
	var list []struct {
		Name, File, Target string
		Calls              int64
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || len(list) != 2 || list[1].File != "tuesday.rivulet" || list[1].Calls != 3650 || list[1].Target != "shop.Main" {
		t.Errorf("%d %v %s", code, err, out)
	}
	if code, _, errs := rivulet(t, "", "view", folder, "-o", "x.html"); code != 2 || !strings.Contains(errs, "is a folder") {
		t.Errorf("a folder with -o: %d %s", code, errs)
	}
}
