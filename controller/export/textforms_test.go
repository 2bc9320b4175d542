package export_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestContexts shows the heaviest contexts and folds the rest without a loss.
func TestContexts(t *testing.T) {
	r := whole()
	text := write(t, func(w io.Writer) error { return r.Text(w, export.TextOptions{Part: export.Tree, Contexts: 3}) })
	if n := strings.Count(text, "\n"); n != 3+3+2 { // title, blank, head; contexts; folds of two, one is a leaf
		t.Errorf("%d lines\n%s", n, text)
	}
	if !strings.HasPrefix(text, "Calling context tree") || strings.Contains(text, "Hot methods") {
		t.Error(text)
	}
}

func TestSort(t *testing.T) {
	r := whole()
	text := write(t, func(w io.Writer) error {
		return r.Text(w, export.TextOptions{Part: export.Methods, Sort: "calls", Top: 2})
	})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 5 || lines[0] != "Hot methods, by calls" || !strings.HasSuffix(lines[3], "shop.Orders.process") || !strings.HasSuffix(lines[4], "shop.Orders.<init>") {
		t.Error(text)
	}
}

func TestWidth(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{{"", 0}, {"µs ±", 4}, {"測定", 4}, {"e\u0301", 1}, {"├─ …", 4}} {
		if got := export.Width(test.text); got != test.want {
			t.Errorf("Width(%q) = %d, want %d", test.text, got, test.want)
		}
	}
	const name = "shop.測定.Service.process"
	for width := range 30 {
		for what, got := range map[string]string{"Fit": export.Fit(name, width), "FitTail": export.FitTail(name, width)} {
			if w := export.Width(got); w > width || width > 1 && width < 25 && w < width-2 {
				t.Errorf("%s(%d) = %q, %d columns", what, width, got, w)
			}
		}
		if w := export.Width(export.Pad(name, width)); w != width {
			t.Errorf("Pad(%d) has %d columns", width, w)
		}
	}
	if got := export.FitTail(name, 10); got != "…e.process" {
		t.Errorf("%q", got)
	}
	if got := export.Fit(name, 10); got != "shop.測定…" {
		t.Errorf("%q", got)
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1 << 20: "1.00 MB", 1005 << 20: "0.98 GB", 5 << 40: "5.00 TB"} {
		if got := export.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestCut has no line of a table be wider than the screen.
func TestCut(t *testing.T) {
	r := whole()
	text := write(t, func(w io.Writer) error { return r.Text(w, export.TextOptions{Top: 20, Depth: 12, Width: 84}) })
	for line := range strings.Lines(text) {
		if w := export.Width(strings.TrimRight(line, "\n")); w > 84 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	// Names keep their ends, notes their beginnings, folds their numbers, prose its words.
	for _, want := range []string{"…Tree$Node.visit (recursive,…\n", "─ … 4 smaller branches, "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	whole := write(t, func(w io.Writer) error { return r.Text(w, export.TextOptions{Top: 20, Depth: 12}) })
	at := func(s string) string {
		return strings.Join(strings.Fields(s[strings.Index(s, "Instrumentation"):]), " ")
	}
	if diff := cmp.Diff(at(whole), at(text)); diff != "" {
		t.Error("-whole +wrapped:\n", diff)
	}
}

// TestSource has the tools find the source files: in the folders of their packages.
func TestSource(t *testing.T) {
	r := whole()
	p, err := profile.ParseData([]byte(write(t, r.Pprof)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range p.Function {
		got[f.SystemName] = fmt.Sprint(f.Filename, " ", f.StartLine)
	}
	for _, l := range p.Location {
		if l.Line[0].Line != l.Line[0].Function.StartLine {
			t.Errorf("pprof: %+v", l.Line[0])
		}
	}
	var speedscope struct {
		Shared struct {
			Frames []struct {
				Name, File string
				Line       int
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, r.Speedscope)), &speedscope); err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{methods[0].Name: "shop/Orders.java 57", methods[2].Name: "shop/Price.java 0", methods[3].Name: " 0"} {
		if got[method] != want {
			t.Errorf("pprof: %s is at %q, want %q", method, got[method], want)
		}
		for _, f := range speedscope.Shared.Frames {
			if at := fmt.Sprint(f.File, " ", f.Line); f.Name == method && at != want {
				t.Errorf("speedscope: %s is at %q, want %q", method, at, want)
			}
		}
	}
	if page := pageData(t, write(t, r.HTML)); !strings.Contains(page, `"Orders.java:57"`) || !strings.Contains(page, `"Price.java"`) {
		t.Error("the page doesn't say where methods are")
	}
}

// TestControl has no form carry what a terminal obeys.
func TestControl(t *testing.T) {
	r := whole()
	r.Lookup = func(id int32) (cct.Method, bool) {
		return cct.Method{Name: fmt.Sprintf("a.\x1bc\u009b2J\u202e<\U000e0001%d.m()V", id), Loader: "l\x07\u0085", Source: "\x1b[2J\u009b</script>", Line: 1}, true
	}
	r.Target.Main, r.Notes = "evil\u009b31m</script>", []string{"\x1b[2J"}
	for _, name := range export.FormatNames() {
		f, _ := export.FormatNamed(name)
		text := write(t, func(w io.Writer) error { return f.Write(r, w, export.FormatOptions{}) })
		if f.Binary {
			continue
		}
		if name == "html" {
			if strings.Count(text, "</script") != 2 {
				t.Error("html: a name ends the script")
			}
			text += pageData(t, text)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xe0001 }); i >= 0 {
			t.Errorf("%s: %q", name, text[max(i-20, 0):i+5])
		}
		if name == "json" {
			if got, err := export.ReadJSON(strings.NewReader(text)); err != nil || asJSON(t, got) != text {
				t.Error("json: names don't come back:", err)
			}
		}
	}
}
