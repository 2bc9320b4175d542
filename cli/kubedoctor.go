package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/kube"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// kubeDoctorJSON is what rivulet kube doctor --json writes.
type kubeDoctorJSON struct {
	Schema int             `json:"schema"`
	Kind   string          `json:"kind"` // "kube doctor"
	OK     bool            `json:"ok"`
	Pods   []podDoctorJSON `json:"pods"`
}

type podDoctorJSON struct {
	Pod    string         `json:"pod"` // and the container, where it has several
	PID    int            `json:"pid"`
	Main   string         `json:"main,omitempty"`
	Checks []doctor.Check `json:"checks"`
}

func (a *app) kubeDoctor() *cobra.Command {
	var f kubeRunFlags
	var asJSON bool
	how := kube.Doctor{}
	cmd := &cobra.Command{
		Use:   "doctor " + targetUse + " [--root CLASS.METHOD]",
		Short: "Say what stands in the way of profiling the JVMs of pods",
		Long: `Does what rivulet kube profile does up to the recording, and says for each pod what stands in the way and what to do about it:
permissions, the pod, its containers, a place for the binary, memory; and in the container what rivulet doctor says.

Exit code 0: nothing fails (there may be warnings). 1: something does.`,
		Example: `  rivulet kube doctor deploy/orders
  rivulet kube doctor deploy/orders --root shop.orders.OrderService.process --pods 1
  rivulet kube doctor deploy/orders --image registry.example.com/rivulet:1.0 --json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if cmd.Flags().Changed("root") {
				root, err := spec.ParseRoot(how.Root)
				if err != nil {
					return usage("--%w", err)
				}
				how.Root = root
			}
			in := watchInterrupts()
			defer in.stop()
			r, err := a.runInPods(in, &f, kube.Request{Command: fleet.Command{Do: kube.DoDoctor}, Doctor: &how})
			if err != nil {
				return err
			}
			j := r.examined()
			if !j.OK {
				a.code = exitFailed
			}
			if asJSON {
				return writeJSON(a.stdout, j)
			}
			return j.write(a.stdout)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.StringVar(&how.Root, "root", "", "look at this root too: `CLASS.METHOD[(DESC)RET]` or a pattern")
	fs.BoolVar(&asJSON, "json", false, "write JSON: an object with ok and pods, each with a list of checks")
	return cmd
}

// examined is what was found in each pod, also in those that could not be looked into.
func (r *kubeRun) examined() *kubeDoctorJSON {
	j := &kubeDoctorJSON{Schema: export.Schema, Kind: "kube doctor", OK: true, Pods: []podDoctorJSON{}}
	_ = eachAnswer(&r.out, func(p fleetProcess, d *doctorJSON) {
		one := podDoctorJSON{Pod: p.Host, PID: p.PID, Main: p.Main, Checks: []doctor.Check{}}
		for _, f := range r.found[p.Host] {
			one.Checks = append(one.Checks, doctor.Check{Name: f.Check, Status: doctor.OK, Text: f.Text})
		}
		why := r.whys[p.Host]
		switch {
		case d != nil:
			one.Checks = append(one.Checks, d.Checks...)
		case why != nil:
			one.Checks = append(one.Checks, failing(why))
		default:
			one.Checks = append(one.Checks, doctor.Check{Name: "look", Status: doctor.Failure, Text: p.Error})
		}
		j.Pods = append(j.Pods, one)
	})
	for name, why := range r.left {
		j.Pods = append(j.Pods, podDoctorJSON{Pod: name, Checks: []doctor.Check{failing(why)}})
	}
	slices.SortStableFunc(j.Pods, func(a, b podDoctorJSON) int { return strings.Compare(a.Pod, b.Pod) })
	for _, p := range j.Pods {
		j.OK = j.OK && !slices.ContainsFunc(p.Checks, func(c doctor.Check) bool { return c.Status == doctor.Failure })
	}
	return j
}

func failing(e *kube.Error) doctor.Check {
	return doctor.Check{Name: e.Check, Status: doctor.Failure, Text: e.Cause, Fix: e.Fix}
}

func (j *kubeDoctorJSON) write(w io.Writer) error {
	for i, p := range j.Pods {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		name := export.Process{Host: p.Pod, PID: p.PID}
		head := export.Clean(strings.TrimRight(name.Name()+"  "+p.Main, " "))
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		if err := writeChecks(w, p.Checks); err != nil {
			return err
		}
	}
	return nil
}
