package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

func (a *app) prepare() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "prepare [PID]",
		Short: "Make a JVM ready, so that arming it later costs it less",
		Long: `A JVM that was started without an agent throws away all of its compiled code when
the first class is redefined, by whatever tool. A busy server then answers slowly
until the code is compiled again.

With --jar, writes an agent that does nothing, and prints the line for a start
script: a JVM that is started with it keeps its code. The agent has one class, and
neither a thread nor a transformer.

With PID, has a running JVM redefine one class of Rivulet's own, with the same bytes:
the price is paid now, at a quiet hour, and not when you record. Nothing else
changes. "rivulet ps" shows which JVMs were started with an agent.`,
		Example: `  rivulet prepare --jar /opt/rivulet-prepared.jar
  rivulet prepare 4711`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && file != "":
				return usage("give a PID, or --jar for JVMs that are started later; not both")
			case len(args) == 0 && file == "":
				return usage("give the PID of a running JVM, or --jar FILE for JVMs that are started later; see rivulet prepare --help")
			case file != "":
				return a.writePrepared(file)
			}
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			return a.prepareRunning(pid)
		},
	}
	cmd.Flags().StringVar(&file, "jar", "", "write the agent to this `file`, and print the line for a start script")
	return cmd
}

// writePrepared writes the jar for start scripts.
func (a *app) writePrepared(file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if strings.ContainsAny(path, " \t\"'") {
		return usage("--jar %q: the JVM splits its options at blanks; choose a path without blanks and quotes", path)
	}
	if err := os.WriteFile(path, jvmside.PreparedJar(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "export JDK_JAVA_OPTIONS=\"$JDK_JAVA_OPTIONS -javaagent:%s\"\n", path)
	a.say("that is for JDK 9 and later; of JDK 8, and of programs that start a JVM without the java command, the variable is JAVA_TOOL_OPTIONS")
	return err
}

// prepareRunning makes a running JVM ready.
func (a *app) prepareRunning(pid int) error {
	found, err := a.backend.processes(context.Background())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(p attach.Process) bool { return p.PID == pid && p.Prepared }) {
		a.say("pid %d was started with an agent: it keeps its compiled code when classes are redefined, and nothing has to be done", pid)
		return nil
	}
	return a.look(fmt.Sprint(pid), func(ctx context.Context, s attached) error {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		a.say("pid %d is prepared: it compiles its code again now, and will keep it when classes are redefined", pid)
		return nil
	})
}
