// Package cli is Rivulet's command line.
//
// What scripts may rely on: the names of commands and flags, the JSON forms,
// and the exit codes: 0 the command did what it was asked to (a recording
// that Ctrl-C ended included), 1 it failed, 2 it was asked for something that
// makes no sense or does not exist. "rivulet run" passes the program's exit
// code through. Reports and listings go to stdout, everything else to stderr;
// an error is one line that begins with "rivulet: " and names the way out.
//
// This package and the session write to a log and know terminals and signals;
// nothing below them does.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/cli/console"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/kube"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs one command and returns its exit code. args are without the
// program's name.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{backend: system{}, stdin: stdin, stdout: stdout, stderr: stderr}).run(args)
}

// Command is the command line itself, of which man pages and completions are made. It must not be executed: [Main] does that.
func Command() *cobra.Command { return (&app{backend: system{}}).root() }

// An app is one run of the command line.
type app struct {
	backend backend
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer

	progress func(phase string, done, total int64) // gets what long work is at; nil has it on a terminal alone

	cluster func(kube.Config) (kube.Cluster, error) // nil is kube.Connect

	verbose      bool
	fullHeap     bool // see session.Config, as littleMemory
	littleMemory bool
	running      bool // a command has begun: its flags and arguments made sense
	code         int  // exit code of a command that did not fail
}

func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(joinInside(args))
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.Execute()
	if err == nil {
		return a.code
	}
	a.say("%s", oneLine(err.Error()))
	if !a.running || isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// A usageError is a request that makes no sense: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) || isBadInput(err) || errors.Is(err, console.ErrUsage)
}

// say tells the user something on stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "rivulet: "+format+"\n", args...)
}

// oneLine keeps an error that quotes a target from spreading over the screen.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = export.Clean(strings.TrimSpace(l))
	}
	return strings.Join(lines, " ")
}

func (a *app) log() hclog.Logger {
	level := hclog.Off
	if a.verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: "rivulet", Level: level, Output: a.stderr})
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rivulet",
		Short: "Profile what one method of a running JVM calls: exact counts, times, as a tree",
		Long: `Rivulet attaches to a JVM that was started without any preparation, points at
one root method, and shows the calling context tree of everything that it
calls, with exact counts and times. Nothing else in the program is touched, and
nothing of weight stays behind.`,
		Example: `  rivulet demo                                        # see it work
  rivulet serve                                       # all of it on a page in the browser
  rivulet ps                                          # find a JVM
  rivulet classes 4711 '*Order*'                      # find a class in it
  rivulet methods 4711 shop.orders.OrderService       # find a root method
  rivulet profile 4711 --root shop.orders.OrderService.process --for 10s`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usage("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return usage("there is no command %q; see rivulet --help", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.running = true
			if _, live := a.backend.(system); live && !strings.HasPrefix(cmd.CommandPath(), "rivulet hub") { // a hub has no target
				headroom.DieFirst()
			}
		},
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var wrong *spec.Error
		if errors.As(err, &wrong) {
			return usage("--%w", wrong)
		}
		return usage("%w; see %s --help", err, cmd.CommandPath())
	})
	cmd.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "log what happens to stderr")
	cmd.PersistentFlags().BoolVar(&a.fullHeap, "full-heap", false, "load the agent even into a JVM whose heap is full")
	cmd.PersistentFlags().BoolVar(&a.littleMemory, "little-memory", false, "attach even where the container that Rivulet runs in may have too little memory left; near its limit the kernel can kill the JVM, too")
	cmd.AddCommand(a.ps(), a.prepare(), a.restore(), a.profile(), a.runCommand(), a.compare(), a.time(), a.classes(), a.methods(), a.doctor(), a.heap(), a.jfr(), a.threads(), a.locks(), a.demo(), a.serve(), a.attachCommand(), a.sampleCommand(), a.topCommand(), a.suggestCommand(), a.watchCommand(), a.view(), a.diff(), a.check(), a.merge(), a.pushCommand(), a.mcpCommand(), a.hubCommand(), a.nodeCommand(), a.fleetCommand(), a.kubeCommand(), a.inPod(), a.version())
	group(cmd)
	return cmd
}

// takes checks the number of arguments and says what is missing by name.
func takes(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("%s is missing; usage: %s", names[len(args)], cmd.UseLine())
		case len(args) > len(names):
			return usage("%q is one argument too many; usage: %s", args[len(names)], cmd.UseLine())
		}
		return nil
	}
}
