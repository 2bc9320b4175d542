package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/cli/mcp"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Roles of an assistant, for --allow.
const (
	roleRecord = "record"
	roleFiles  = "files"
)

var roles = []string{roleRecord, roleFiles}

func (a *app) mcpCommand() *cobra.Command {
	b := mcp.Budget{}
	var allow []string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an assistant use Rivulet, by the Model Context Protocol",
		Long: `Serves an assistant over standard input and output, by the Model Context Protocol. The
assistant can list JVMs, sample them, and ask about the reports: the hottest methods,
callers, the tree, differences. With --allow record it can also record exactly below a
root, which instruments a JVM for as long as --longest says at most, and restores it.
Log lines go to standard error.

An assistant is configured to start this command. Its log says what it was asked.`,
		Example: `  rivulet mcp
  rivulet mcp --allow record --longest 10s --pid 4711`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, role := range allow {
				if !slices.Contains(roles, role) {
					return usage("--allow %q: there is only %s", role, enumerate(roles))
				}
			}
			if b.Longest <= 0 {
				return usage("--longest %v: give a time above zero", b.Longest)
			}
			for _, pid := range b.PIDs {
				if pid <= 0 {
					return usage("--pid %d is not a process id; rivulet ps lists the JVMs and theirs", pid)
				}
			}
			b.Record, b.Files = slices.Contains(allow, roleRecord), slices.Contains(allow, roleFiles)
			version, _ := versionOf()
			in := watchInterrupts()
			defer in.stop()
			err := mcp.New(assistant{a}, b, version).Run(in.first, mcp.Over(a.stdin, a.stdout))
			if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
				return nil // Ctrl-C, or the assistant has gone
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&allow, "allow", nil, "what the assistant may do beside sampling: `ROLE` record (instrument JVMs, for exact counts) or files (read saved reports); may be repeated")
	fs.DurationVar(&b.Longest, "longest", 30*time.Second, "the longest `time` of one sampling or recording")
	fs.IntSliceVar(&b.PIDs, "pid", nil, "look at this `PID` only; may be repeated")
	return cmd
}

// An assistant's requests are carried out as the commands of the same names are.
type assistant struct{ a *app }

func (s assistant) Processes(ctx context.Context) ([]attach.Process, error) {
	return s.a.backend.processes(ctx)
}

func (s assistant) Load(path string) (*export.Report, error) { return s.a.loadReport(path) }

func (s assistant) Sample(ctx context.Context, pid int, length time.Duration, wall bool) (*export.Report, error) {
	var o sampleOptions
	o.sampler.Hz, o.sampler.Wall, o.tree.States = usualHz, wall, wall
	if wall {
		o.sampler.Hz = usualWall
	}
	return s.a.sampleQuietly(ctx, pid, o, length)
}

// Record leaves the JVM as it was even if the assistant has lost interest.
func (s assistant) Record(ctx context.Context, pid int, o mcp.Recording) (*export.Report, error) {
	f := newRecordFlags()
	for _, root := range o.Roots {
		if err := f.rec.AddRoot(root); err != nil {
			return nil, err
		}
	}
	if o.Share > 0 && o.Share < 1 {
		f.rec.Every = int64(1/o.Share + 0.5)
	}
	if o.Count != "" {
		if err := spec.Find("count").Set(&f.rec, o.Count); err != nil {
			return nil, err
		}
	}
	if err := f.rec.Validate(); err != nil {
		return nil, err
	}
	cfg := s.a.config(f.rec.Memory)
	cfg.Observe = true
	session, err := s.a.backend.attach(ctx, pid, cfg)
	if err != nil {
		return nil, err
	}
	if err := session.Start(ctx, f.rec); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	over := time.NewTimer(o.Length)
	defer over.Stop()
	select {
	case <-over.C:
	case <-session.Done():
	case <-ctx.Done():
	}
	notes := session.Diagnose(ctx)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	r, err := session.Finish(end)
	if r != nil && notes != "" {
		r.Notes = append(r.Notes, strings.Split(notes, "\n")...)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("the request was given up after %s; the JVM is restored", export.Duration(int64(r.Time.Round(time.Millisecond))))
	}
	return r, err
}
