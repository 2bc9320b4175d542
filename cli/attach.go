package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/cli/console"
	"github.com/rivulet-profiler/rivulet/cli/tui"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// attachFlags are what a terminal session begins with.
type attachFlags struct {
	recordFlags
	script string
}

func (a *app) attachCommand() *cobra.Command {
	f := attachFlags{recordFlags: *newRecordFlags()}
	cmd := &cobra.Command{
		Use:   "attach PID",
		Short: "Look at a running JVM in the terminal: choose roots, record, watch the tree, compare, save",
		Long: `Attaches to a running JVM and opens a session in the terminal: search classes and
methods, choose roots, start and stop, pause, switch scheme and clock, watch the
tree and the hot methods while they grow, compare recordings, save them. ? shows
the keys. q or Ctrl-C ends the recording, restores every class and detaches.

With --script, or where input or output is no terminal, it carries out commands, a
line for each; the screen takes the same ones after a colon. Quotes keep blanks
together, # begins a comment. What commands print goes to stdout, what happens
meanwhile to stderr. A line that fails ends the script with exit code 1, or 2 if it
makes no sense; the target is restored. So it is at the end of the script.

Commands:

` + console.Help(),
		Example: `  rivulet attach 4711
  rivulet attach 4711 --root shop.orders.OrderService.process
  rivulet attach 4711 --script commands.txt
  printf '%s\n' 'suggest root' start 'wait 5s' 'top 20' | rivulet attach 4711
  printf '%s\n' 'start shop.Front.serve' 'wait 5s' 'top 20' 'save report.html' | rivulet attach 4711`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			f.rootless = true
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.attachTo(pid, &f)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.script, "script", "", "carry out the commands in this `FILE`; - is standard input")
	f.addOptions(fs, "root")
	f.addFilters(fs)
	f.addOptions(fs, "scheme", "observe", "patience", "every", "share", "overhead", "agents", "clock", "memory", "wait", "recursion", "mode", "cpu", "count", "follow", "natives", "probes", "leaves", "roottimes")
	f.app.addApp(fs)
	f.agents.add(fs)
	return cmd
}

func (a *app) attachTo(pid int, f *attachFlags) error {
	interactive := f.script == "" && isTerminal(a.stdin) && isTerminal(a.stdout)
	if interactive && a.verbose && isTerminal(a.stderr) {
		return usage("-v writes over the screen; send it to a file: 2>rivulet.log")
	}
	if interactive && os.Getenv("TERM") == "dumb" {
		return usage("this terminal (TERM=dumb) can't show a screen; give commands with --script -")
	}
	script := a.stdin
	if f.script != "" && f.script != "-" {
		file, err := os.Open(f.script)
		if err != nil {
			return usage("--script: %w", err)
		}
		defer file.Close()
		script = file
	}
	in := watchInterrupts()
	defer in.stop()
	t := a.terminal(pid, f, interactive)
	over, end := context.WithCancel(in.first)
	defer end()
	ran := make(chan error, 1)
	go func() { ran <- t.live.Run(over, in.second) }()
	if interactive {
		a.say("attaching to process %d", pid)
	}
	err := t.console.Attach(in.first)
	if err == nil {
		if interactive {
			err = tui.Run(in.first, t.console, a.stdin, a.stdout)
		} else {
			err = t.console.Script(in.first, script, a.stdout)
		}
	}
	end()
	left := <-ran
	t.close()
	var line *console.LineError
	if errors.As(err, &line) && in.first.Err() != nil {
		restored := ""
		if left == nil {
			restored = "; the target is as it was"
		}
		err = fmt.Errorf("interrupted at line %d of the script%s", line.Line, restored)
	} else {
		err = interrupted(in, err)
	}
	return errors.Join(err, left)
}

// A terminal is a terminal session: the recording, its commands, and, without a
// screen, somebody who tells what happens.
type terminal struct {
	live    *live.Live
	console *console.Console
	close   func() // ends the telling
}

func (a *app) terminal(pid int, f *attachFlags, interactive bool) terminal {
	log := hclog.NewNullLogger()
	if !interactive || !isTerminal(a.stderr) {
		log = a.log()
	}
	news := make(chan struct{}, 1)
	var t terminal
	backend := &liveBackend{app: a, packages: f.app.app, quiet: true, log: log, agents: f.agents.sources}
	t.live = live.New(live.Config{
		Backend: backend, Log: log,
		Changed: func() {
			select {
			case news <- struct{}{}:
			default:
			}
		},
		Watched: func() bool { return interactive },
		App:     f.app.app,
	})
	backend.steer = t.live.Do
	t.close = func() {}
	if !interactive {
		quit := make(chan struct{})
		var done sync.WaitGroup
		done.Add(1)
		go func() {
			defer done.Done()
			a.tell(t.live, news, quit)
		}()
		t.close = func() { close(quit); done.Wait() }
	}
	cfg := console.Config{
		Live: t.live, PID: pid, Save: a.saveReport, Load: a.loadReport,
		Color: !interactive && hasColor(a.stdout), App: f.app.app,
	}
	if !interactive && isTerminal(a.stdout) {
		cfg.Width = columns(a.stdout)
	}
	t.console = console.New(cfg, f.rec)
	return t
}

// tell says what happens on stderr; errors are the commands' own.
func (a *app) tell(l *live.Live, news, quit <-chan struct{}) {
	var last int64
	show := func() {
		for _, e := range l.Entries(last) {
			last = e.Seq
			if e.Level != "error" {
				a.say("%s", oneLine(e.Text))
			}
		}
	}
	for {
		select {
		case <-news:
			show()
		case <-quit:
			show()
			return
		}
	}
}

// saveReport writes a report for the command save.
func (a *app) saveReport(path, format string, r *export.Report) error {
	if path == "" || path == "-" {
		return usage("save needs a file's name")
	}
	out, err := openOutput(path, io.Discard)
	if err != nil {
		return err
	}
	defer out.discard()
	if _, ok := export.FormatOf(path); format == "" && !ok {
		return usage("%q doesn't say in which form: end it in .txt, .json, .html and the like, or name one of %s", path, enumerate(export.FormatNames()))
	}
	return writeReport(r, out, format, export.FormatOptions{Text: export.TextOptions{Top: export.DefaultTop, Depth: export.DefaultDepth}})
}
