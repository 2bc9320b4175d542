package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func (a *app) ps() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the JVMs of this machine, and whether Rivulet can attach to them",
		Example: `  rivulet ps
  rivulet ps --json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.backend.processes(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.stdout, processesJSON(found))
			}
			if len(found) == 0 {
				a.say("no JVM is running that you may see; root sees those of all users")
				return nil
			}
			return writeProcesses(a.stdout, found)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON: a list of objects with pid, user, java, main, uptime_seconds, attachable, reason and more")
	return cmd
}

// A processJSON adds what a reader would have to compute.
type processJSON struct {
	attach.Process
	Uptime float64 `json:"uptime_seconds"`
}

func processesJSON(found []attach.Process) []processJSON {
	list := []processJSON{}
	for _, p := range found {
		if p.Options == nil {
			p.Options = []string{}
		}
		list = append(list, processJSON{p, time.Since(p.Started).Truncate(10 * time.Millisecond).Seconds()})
	}
	return list
}

func writeProcesses(w io.Writer, found []attach.Process) error {
	rows := [][]string{{"PID", "USER", "JAVA", "UPTIME", "PREPARED", "MAIN", ""}}
	for _, p := range found {
		main := p.Main
		if strings.HasSuffix(main, ".jar") {
			main = path.Base(main)
		}
		java := p.JavaVersion
		if java == "" {
			java = "?"
		}
		note := ""
		if !p.Attachable {
			note = "not attachable: " + p.Reason
		}
		if p.Restoring != nil {
			note = strings.TrimPrefix(note+fmt.Sprintf("; restoring classes: %.0f %%", 100**p.Restoring), "; ")
		}
		uptime := export.Duration(int64(time.Since(p.Started).Truncate(time.Second)))
		if d := time.Since(p.Started); d < time.Minute {
			uptime = fmt.Sprintf("%d s", int(d.Seconds()))
		}
		rows = append(rows, []string{fmt.Sprint(p.PID), p.User, java, uptime, map[bool]string{true: "yes", false: "-"}[p.Prepared], main, note})
	}
	return writeRows(w, rows, 0)
}

func (a *app) classes() *cobra.Command {
	var f causesFlags
	cmd := &cobra.Command{
		Use:   "classes PID|REPORT [PATTERN]",
		Short: "List the loaded classes of a JVM, to find a root; with --causes say why classes were loaded",
		Long: `Lists the loaded classes with their loaders and numbers of methods. They are read
from the JVM's memory; where that can't be, as with JDK 8 and ZGC, an agent lists
them and leaves. PATTERN is a part of the name, or a whole name with * and ?.

With --causes it says which method needed each class that was loaded, when, from where, and how
long that took: of a report, whose contexts are exact (times are in those of --count classes), or
of a running JVM from now on, by Flight Recorder.`,
		Example: `  rivulet classes 4711
  rivulet classes 4711 OrderService
  rivulet classes 4711 'shop.orders.*' --json
  rivulet classes 4711 --causes --for 30s
  rivulet run --root shop.Main.main --count classes -o run.json -- java -jar shop.jar
  rivulet classes run.json --causes`,
		Args: takes(1, "PID|REPORT", "PATTERN"),
		RunE: func(_ *cobra.Command, args []string) error {
			pattern := ""
			if len(args) > 1 {
				pattern = args[1]
			}
			if f.causes {
				return a.classCauses(args[0], pattern, &f)
			}
			if f.length != 0 {
				return usage("--for goes with --causes")
			}
			return a.list(args[0], func(ctx context.Context, s listing) error {
				found, err := s.Classes(ctx, pattern)
				switch {
				case err != nil:
					return err
				case f.asJSON:
					return writeJSON(a.stdout, append([]roots.ClassInfo{}, found...))
				case len(found) == 0:
					a.say("no loaded class matches %q; a class that is not loaded yet can be a root all the same", pattern)
					return nil
				}
				rows := [][]string{{"CLASS", "LOADER", "METHODS"}}
				for _, c := range found {
					rows = append(rows, []string{c.Name, c.Loader, fmt.Sprint(c.Methods)})
				}
				return writeRows(a.stdout, rows, tableWidth(a.stdout))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.causes, "causes", false, "say which method needed each class that was loaded, when, and how long that took")
	fs.DurationVar(&f.length, "for", 0, fmt.Sprintf("with --causes, look at a running JVM for this `time` (default %v)", usualCauses))
	fs.IntVar(&f.top, "top", export.DefaultTop, "with --causes, `N` rows in the text; 0 for all")
	fs.BoolVar(&f.asJSON, "json", false, "write JSON: a list of objects with name, loader and methods; with --causes an object")
	return cmd
}

func (a *app) methods() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "methods PID CLASS",
		Short: "List the methods of a class in a JVM, in the form that --root takes",
		Example: `  rivulet methods 4711 shop.orders.OrderService
  rivulet methods 4711 'shop.Outer$Inner' --json`,
		Args: takes(2, "PID", "CLASS"),
		RunE: func(_ *cobra.Command, args []string) error {
			class := strings.ReplaceAll(args[1], "/", ".")
			for part := range strings.SplitSeq(class, ".") {
				if err := spec.CheckName(part); err != nil {
					return usage("%q is not a class: %w; rivulet classes %s lists them", args[1], err, args[0])
				}
			}
			return a.list(args[0], func(ctx context.Context, s listing) error {
				found, err := s.Methods(ctx, class)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(a.stdout, append([]roots.MethodInfo{}, found...))
				}
				rows := [][]string{{"METHOD", "LOADER", "FLAGS", ""}}
				for _, m := range found {
					note := ""
					if !m.Probeable {
						note = "no probes: " + m.Reason
					}
					rows = append(rows, []string{m.Name, m.Loader, m.Flags, note})
				}
				return writeRows(a.stdout, rows, tableWidth(a.stdout))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON: a list of objects with name, loader, flags, probeable and reason")
	return cmd
}

// list asks what is loaded: from outside where the JVM's memory can be read, so that it
// notices nothing, else by an agent, about which a JVM from 21 on prints a warning.
func (a *app) list(arg string, ask func(context.Context, listing) error) error {
	pid, err := parsePID(arg)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := a.backend.inspect(ctx, pid); err == nil { // else attaching says why not
		o, err := a.backend.outline(ctx, pid)
		if err == nil {
			return ask(ctx, o)
		}
		a.log().Debug("classes can't be read from outside", "reason", err)
	}
	return a.look(arg, func(ctx context.Context, s attached) error { return ask(ctx, s) })
}

// look attaches only to ask something.
func (a *app) look(arg string, ask func(context.Context, attached) error) error {
	pid, err := parsePID(arg)
	if err != nil {
		return err
	}
	in := watchInterrupts()
	defer in.stop()
	s, err := a.attach(in, pid, a.config(0))
	if err != nil {
		return err
	}
	err = ask(in.first, s)
	if closing := s.Close(); err == nil {
		err = closing
	}
	return err
}

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(export.CleanJSON(b.Bytes()))
	return err
}

// writeLine writes JSON in one line.
func writeLine(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(export.CleanJSON(b.Bytes()))
	return err
}

// writeRows writes a table. On a terminal, width cuts each line there; 0 cuts none.
func writeRows(w io.Writer, rows [][]string, width int) error {
	_, err := io.WriteString(w, table(rows, width))
	return err
}

// widestCell is how many columns a cell may take and still have others padded to
// its width: descriptors can be hundreds of columns wide.
const widestCell = 72

// table aligns all columns but the last to the left. A cell wider than widestCell
// moves what follows in its own line alone. Lines are cut to width if that is
// not 0.
func table(rows [][]string, width int) string {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = export.Clean(cell)
			if n := export.Width(row[i]); n <= widestCell {
				wide[i] = max(wide[i], n)
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", max(wide[i]-export.Width(cell), 0)+2)
		}
		line = strings.TrimRight(line, " ")
		if width > 0 {
			line = export.Fit(line, width)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// tableWidth is where a table of names is cut: at a terminal's width, and nowhere
// in a file or pipe, from which names are copied whole.
func tableWidth(w io.Writer) int {
	if isTerminal(w) {
		return columns(w)
	}
	return 0
}
