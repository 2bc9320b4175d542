package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/kube"
)

func (a *app) kubeProfile() *cobra.Command {
	var f kubeRunFlags
	rec := newRecordFlags()
	cmd := &cobra.Command{
		Use:   "profile " + targetUse + " --root CLASS.METHOD[(DESC)RET]",
		Short: "Record the same root in the JVMs of pods, and merge the trees",
		Long: `Records what a root method calls in the JVMs of all pods of a target, and puts the reports together: those of one
program in one tree, with figures of each pod (processes in JSON, by pod and pid). Counting begins in each JVM when it is
armed. A pod that fails is named with the reason; the report is of the others, and the exit code 1.

Without --for and --until-calls it records until Ctrl-C, which reports and exits 0. When the connection with a pod is lost, its recording
ends by itself and the JVM is restored; what was heard until five seconds before counts.

` + filterHelp,
		Example: `  rivulet kube profile deploy/orders --root shop.orders.OrderService.process --for 10s
  rivulet kube profile -l app=orders -n shop --pods 3 --root 'shop.**.*Service.find*' --for 10s -o orders.rivulet
  rivulet kube profile orders-7c9d5-x2x9q --container app --root shop.Front.serve --overhead 2% --for 30s --format json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(rec.check(cmd), f.check(cmd, args)); err != nil {
				return err
			}
			if rec.trace != "" || rec.stream != "" || len(rec.agents.sources) > 0 {
				return usage("--trace, --stream and --agent are of one JVM of this machine")
			}
			return a.with(rec.file, a.stdout, func(in *interrupts, out *output) error {
				if _, err := out.format(rec.format); err != nil {
					return err
				}
				r, err := a.reportKube(in, &f, kube.Request{Command: fleet.Command{Do: fleet.DoProfile, Recording: &rec.rec, Seconds: rec.length.Seconds(), FullHeap: a.fullHeap}})
				return a.deliver(r, err, rec, out)
			})
		},
	}
	f.add(cmd.Flags())
	rec.add(cmd)
	rec.addOptions(cmd.Flags(), "wait")
	return cmd
}
