package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/session"
)

func (a *app) runCommand() *cobra.Command {
	f := newRecordFlags()
	var compare bool
	list := schemeList{"A", "B", "C"}
	cmd := &cobra.Command{
		Use:   "run --root CLASS.METHOD[(DESC)RET] -- COMMAND...",
		Short: "Start a program and record what a root method calls, from its first call on",
		Long: `Starts the program itself, so that short programs and the start of long ones
are covered. COMMAND may be java or a script that starts it. The program's
input, output and exit code pass through; the report goes to stderr, or with -o
to a file. Ctrl-C goes to the program, a second one detaches and reports.

--compare runs the program several times, to its end: without a profiler, with
the roots timed alone, and once by each scheme. Shows side by side what each
scheme recorded, instrumented and cost, and says which to use. The program's
input is empty then; Ctrl-C ends the program and the comparison. The exit code is
0 if all runs could be made, whatever the program's are.

` + filterHelp,
		Example: `  rivulet run --root shop.Main.main -- java -jar shop.jar
  rivulet run --root shop.Main.main --format json -o report.json -- ./start-shop.sh --port 8080
  rivulet run --compare --root shop.Main.main -- java -jar shop.jar
  rivulet run --root 'shop.Cache.<init>' --until-calls 1 -- java -cp classes shop.Main`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the command is missing; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			switch {
			case compare:
				return a.compareRuns(cmd, args, f, list)
			case cmd.Flags().Changed("schemes"):
				return usage("--schemes is for --compare; --scheme says by which a single run is recorded")
			}
			return a.runProgram(args, f)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&compare, "compare", false, "run the program by one scheme after another, and compare them")
	cmd.Flags().Var(&list, "schemes", "with --compare, which to try, in this order")
	// The program's own flags are not ours, even if "--" was forgotten.
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (a *app) runProgram(argv []string, f *recordFlags) error {
	return a.with(f.file, a.stderr, func(in *interrupts, out *output) error {
		if _, err := out.format(f.format); err != nil {
			return err
		}
		defer f.discardMore()
		if err := f.openMore(a.stdout); err != nil {
			return err
		}
		return a.runOn(in, out, argv, f)
	})
}

func (a *app) runOn(in *interrupts, out *output, argv []string, f *recordFlags) error {
	s, err := a.backend.launch(in.first, argv, session.Stdio{In: a.stdin, Out: a.stdout, Err: a.stderr}, a.config(f.rec.Memory))
	if code, early := exitedEarly(err); early && code != 0 {
		a.say("%s", oneLine(err.Error()))
		a.code = code
		return nil
	}
	if err != nil {
		return interrupted(in, err)
	}
	// Any class may still come.
	r := f.rec
	r.Wait = true
	m := startMeter(a.stderr, s.Progress)
	defer m.stop()
	recorded := withAgents(s, f.agents.sources, m.say)
	if err := recorded.Start(in.first, r); err != nil {
		m.fix("ending the program")
		s.abandon()
		return interrupted(in, err)
	}
	m.armed()
	// The first signal is the program's affair; what it does about it belongs
	// to the recording.
	exited, gone := context.WithCancel(context.Background())
	defer gone()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case sig := <-in.got:
				a.passOn(s, sig)
			case <-s.Exited():
				gone()
				return
			case <-in.second.Done():
				return
			}
		}
	}()
	if err := f.warm(recorded, m, exited, in.second); err != nil {
		return errors.Join(err, s.Close())
	}
	await(recorded, m, f.length, exited, in.second)
	if exited.Err() != nil {
		select { // the session finds out a little later
		case <-recorded.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
	report, err := finish(in, recorded, m)
	if err := a.deliver(report, err, f, out); err != nil {
		return err
	}
	<-passed
	select {
	case <-s.Exited():
		a.code = s.ExitCode()
	default:
		a.say("the program goes on as process %d", s.Target().PID)
	}
	return nil
}

// passOn gives the program a signal that only we have got: what a terminal
// sends, its whole process group gets, the program included.
func (a *app) passOn(s launched, sig os.Signal) {
	if sig == os.Interrupt && isTerminal(a.stdin) || sig == syscall.SIGHUP && isTerminal(a.stdin) {
		return
	}
	if err := s.Signal(sig); err != nil {
		a.say("the program could not be signalled: %v", err)
	}
}
