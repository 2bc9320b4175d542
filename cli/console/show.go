package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func status(ctx context.Context, c *Console, out io.Writer, _ []string) error {
	if _, err := c.live.RecentReport(ctx); err != nil {
		return err
	}
	for _, l := range c.Status() {
		fmt.Fprintf(out, "%-13s%s\n", l[0], l[1])
	}
	return nil
}

// Status says how things stand, as pairs of a name and a text that is fit for a terminal.
func (c *Console) Status() [][2]string {
	st, set := c.live.State(), c.Settings()
	phase := st.Phase
	if st.Paused {
		phase = "paused"
	}
	out := [][2]string{{"phase", phase}}
	add := func(name, format string, args ...any) {
		out = append(out, [2]string{name, export.Clean(fmt.Sprintf(format, args...))})
	}
	if t := st.Target; t != nil {
		add("target", "%s (pid %d, Java %s)", t.Main, t.PID, t.Java)
	}
	add("roots", "%s", strings.Join(set.Roots, " "))
	usual := spec.Default()
	for _, o := range spec.Options {
		value := o.Get(&set)
		always := o.Name == "scheme" || o.Name == "clock"
		if o.Name != "root" && (always || value != "" && value != o.Get(&usual)) {
			switch o.Name {
			case "scheme":
				value = export.SchemeName(value)
			case "clock":
				value = export.ClockName(value)
			}
			add(o.Name, "%s", value)
		}
	}
	f := st.Figures
	if f == nil {
		return out
	}
	add("duration", "%s", export.Duration(int64(f.Seconds*1e9)))
	add("calls", "%s, %s a second", export.Count(f.Calls), export.Count(int64(f.Rate)))
	add("root calls", "%s, %s still running", export.Count(f.Invocations), export.Count(f.Open))
	add("methods", "%s called of %s", export.Count(int64(f.Called)), export.Count(int64(f.Instrumented)))
	pause := "not measured"
	if f.Pause != nil {
		pause = export.Duration(*f.Pause)
	}
	add("instrumented", "%s, %s, longest pause %s", export.Plural(int64(f.Classes), "class", "classes"), export.Plural(int64(f.Batches), "step", "steps"), pause)
	if f.Most > 0 {
		add("memory", "%s of %s, %s", export.Bytes(f.Used), export.Bytes(f.Most), export.Plural(f.Nodes, "call path", "call paths"))
	}
	if !f.Exact {
		add("exact", "no: calls may be missing, or have no call path of their own; report says why")
	}
	for _, a := range st.Agents {
		last := ""
		if n := len(a.Output); n > 0 {
			last = ": " + export.Clean(a.Output[n-1])
		}
		if a.Failed != "" {
			last = ", failed: " + export.Clean(a.Failed)
		}
		add("agent", "%s, %s%s", a.Name, export.Plural(a.Activations, "activation", "activations"), last)
	}
	if st.Diagnosis != "" {
		add("diagnosis", "%s", st.Diagnosis)
	}
	return out
}

// number reads an optional number.
func number(args []string, otherwise int) (int, error) {
	if len(args) == 0 {
		return otherwise, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n <= 0 {
		return 0, wrong("%q is no number above 0", args[0])
	}
	return n, nil
}

// text prints a part of the report.
func (c *Console) text(ctx context.Context, out io.Writer, o export.TextOptions) error {
	r, err := c.live.ReportNow(ctx)
	if err != nil {
		return err
	}
	o.Color, o.Width = c.cfg.Color, c.cfg.Width
	if !c.Unfolded() {
		o.Frameworks = &export.Frameworks{App: c.cfg.App, Hint: "unfold on shows them"}
	}
	return r.Text(out, o)
}

// Unfolded tells whether trees show the levels of frameworks that lead to the application.
func (c *Console) Unfolded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unfolded
}

// Unfold has trees show these levels, or fold them.
func (c *Console) Unfold(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfolded = on
}

func unfold(_ context.Context, c *Console, out io.Writer, args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintln(out, map[bool]string{true: "on", false: "off"}[c.Unfolded()])
		return err
	}
	if args[0] != "on" && args[0] != "off" {
		return wrong("unfold is on or off")
	}
	c.Unfold(args[0] == "on")
	return nil
}

func top(ctx context.Context, c *Console, out io.Writer, args []string) error {
	n, err := number(args, export.DefaultTop)
	if err != nil {
		return err
	}
	return c.text(ctx, out, export.TextOptions{Part: export.Tree, Contexts: n})
}

func tree(ctx context.Context, c *Console, out io.Writer, args []string) error {
	n, err := number(args, export.DefaultDepth)
	if err != nil {
		return err
	}
	return c.text(ctx, out, export.TextOptions{Part: export.Tree, Depth: n})
}

func methods(ctx context.Context, c *Console, out io.Writer, args []string) error {
	by := ""
	if i := slices.Index(args, "by"); i >= 0 {
		if i+2 != len(args) || !slices.Contains(export.Sorts, args[i+1]) {
			return wrong("methods can be sorted by %s", strings.Join(export.Sorts, ", "))
		}
		by, args = args[i+1], args[:i]
	}
	if len(args) > 1 {
		return wrong("it is used as: methods [N] [by KEY]")
	}
	n, err := number(args, export.DefaultTop)
	if err != nil {
		return err
	}
	return c.text(ctx, out, export.TextOptions{Part: export.Methods, Top: n, Sort: by})
}

func threads(ctx context.Context, c *Console, out io.Writer, _ []string) error {
	return c.text(ctx, out, export.TextOptions{Part: export.Threads})
}

func report(ctx context.Context, c *Console, out io.Writer, _ []string) error {
	return c.text(ctx, out, export.TextOptions{Top: export.DefaultTop, Depth: export.DefaultDepth})
}

// around lists a method's callers and callees; the method is named by words, as
// for find, and is the best match of those that were called.
func around(ctx context.Context, c *Console, out io.Writer, args []string) error {
	if _, err := c.live.ReportNow(ctx); err != nil {
		return err
	}
	page := c.live.View(&live.Query{Methods: &live.MethodsQuery{Filter: args[0], Sort: "total", Rows: 1}}).Methods
	if page == nil || len(page.Lines) == 0 {
		return fmt.Errorf("no method that was called matches %q", args[0])
	}
	a := c.live.View(&live.Query{Around: &live.AroundQuery{Method: int32(page.Lines[0].Figures[0])}}).Around
	name := func(l live.Line) string {
		if m := c.live.Method(int32(l.Figures[0])); m.Name != "" {
			return export.Clean(m.Name)
		}
		return "(outside)"
	}
	rows := func(title string, lines []live.Line, more int) {
		fmt.Fprintln(out, title)
		for _, l := range lines {
			fmt.Fprintf(out, "  %12s calls  %9s  %s\n", export.Count(l.Figures[2]), export.Duration(l.Figures[7]), name(l))
		}
		if more > 0 {
			fmt.Fprintf(out, "  and %s\n", export.Plural(int64(more), "more", "more"))
		}
	}
	rows("method", []live.Line{a.Self}, 0)
	rows("called by", a.Callers, a.More[0])
	rows("calls", a.Callees, a.More[1])
	return nil
}

func keep(ctx context.Context, c *Console, out io.Writer, args []string) error {
	info, err := c.live.Keep(ctx, strings.Join(args, " "))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "snapshot %d: %s\n", info.ID, info.Name)
	return nil
}

func snapshots(_ context.Context, c *Console, out io.Writer, _ []string) error {
	for _, s := range c.live.State().Snapshots {
		fmt.Fprintf(out, "%3d  %s, %s, %s, %s: %s\n", s.ID, export.SchemeName(s.Scheme), export.ClockName(s.Clock),
			export.Duration(int64(s.Seconds*1e9)), export.Plural(s.Calls, "call", "calls"), s.Name)
	}
	return nil
}

// source finds what compare is to compare, and what it is called.
func (c *Console) source(ctx context.Context, text string) (*export.Report, string, error) {
	if text == "now" {
		r, err := c.live.ReportNow(ctx)
		return r, "now", err
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		r, err := c.live.SnapshotReport(id)
		if err != nil {
			return nil, "", wrong("there is no snapshot %d; snapshots lists them", id)
		}
		return r, "snapshot " + text, nil
	}
	r, err := c.cfg.Load(text)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", wrong("there is no snapshot and no file %q; snapshots lists the snapshots", text)
	}
	return r, text, err
}

func compare(ctx context.Context, c *Console, out io.Writer, args []string) error {
	after := "now"
	if len(args) > 1 {
		after = args[1]
	}
	a, before, err := c.source(ctx, args[0])
	if err != nil {
		return err
	}
	b, name, err := c.source(ctx, after)
	if err != nil {
		return err
	}
	d := live.Difference(a, b, live.DifferenceOptions{Each: true, Top: export.DefaultTop, Depth: export.DefaultDepth})
	d.Names = [2]string{before, name}
	return d.Text(out, export.TextOptions{Color: c.cfg.Color, Width: c.cfg.Width})
}

func save(ctx context.Context, c *Console, out io.Writer, args []string) error {
	r, err := c.live.ReportNow(ctx)
	if err != nil {
		return err
	}
	format := ""
	if len(args) > 1 {
		format = args[1]
	}
	if err := c.cfg.Save(args[0], format, r); err != nil {
		return err
	}
	fmt.Fprintf(out, "saved to %s\n", export.Clean(args[0]))
	return nil
}

func journal(_ context.Context, c *Console, out io.Writer, _ []string) error {
	for _, e := range c.live.Entries(0) {
		fmt.Fprintf(out, "%s  %s\n", e.Time.Format("15:04:05"), e.Text)
	}
	return nil
}

func echo(_ context.Context, _ *Console, out io.Writer, args []string) error {
	_, err := fmt.Fprintln(out, export.Clean(strings.Join(args, " ")))
	return err
}

func help(_ context.Context, _ *Console, out io.Writer, args []string) error {
	if len(args) == 0 {
		_, err := io.WriteString(out, Help())
		return err
	}
	cmd := lookUp(args[0])
	if cmd == nil {
		return wrong("there is no command %q; help lists them", args[0])
	}
	_, err := fmt.Fprintf(out, "%s\n  %s\n", strings.TrimSpace(cmd.name+" "+cmd.args), cmd.help)
	return err
}
