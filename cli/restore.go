package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/session"
)

// Values of --restore.
const (
	restoreGently = "gently"
	restoreNow    = "now"
)

// restorePatience is how long a command stays to see the agent end, after its report.
const restorePatience = time.Second

// sayRestoring says that classes are still being restored, unless that ends at once.
func (a *app) sayRestoring(ctx context.Context, pid int) {
	share := 0.0
	if err := session.AwaitRestored(ctx, pid, restorePatience, func(s float64) { share = s }); err != nil {
		a.say("the agent goes on restoring classes by itself (%.0f %% are done); rivulet ps shows how far it is, rivulet restore %d waits for its end", 100*share, pid)
	}
}

func (a *app) restore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore PID",
		Short: "Wait until all classes are restored that the agent is restoring by itself",
		Long: `After a recording the agent restores classes by itself, while the report is written.
"rivulet ps" shows which JVMs are at it and how far they are. This command waits until
all classes are restored. Where nothing is to be restored it says so.`,
		Example: `  rivulet restore 4711`,
		Args:    takes(1, "PID"),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			in := watchInterrupts()
			defer in.stop()
			p, err := a.backend.inspect(in.first, pid)
			if err != nil {
				return err
			}
			if p.Restoring == nil {
				a.say("process %d has no classes that an agent is restoring by itself", pid)
				return nil
			}
			if err := session.Restore(in.first, p, func(share float64) { a.say("restoring classes: %.0f %%", 100*share) }); err != nil {
				return interrupted(in, err)
			}
			a.say("all classes of process %d are as they were", pid)
			return nil
		},
	}
}
