package cli

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/kube"
)

func (a *app) kubeSample() *cobra.Command {
	var f kubeRunFlags
	var s sampleFlags
	var v viewFlags
	var length time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sample " + targetUse,
		Short: "Sample the JVMs of pods, and merge the trees",
		Long: `Samples the JVMs of all pods of a target from outside, as rivulet sample does, and puts the reports together: those
of one program in one tree, with figures of each pod. Without --for it samples until Ctrl-C, which reports and exits 0.`,
		Example: `  rivulet kube sample deploy/orders --for 10s
  rivulet kube sample -l app=orders --wall --for 30s -o orders.rivulet`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				if v.format != "" && v.format != "json" {
					return usage("--json and --format %s: give one of both", v.format)
				}
				v.format = "json"
			}
			o, err := s.options(cmd)
			if err := errors.Join(err, v.check(), checkLength(cmd, length), f.check(cmd, args)); err != nil {
				return err
			}
			how := &fleet.Sample{Hz: s.hz, Wall: s.wall, Threads: s.threads, Native: s.native, Inlined: s.inlined, Source: o.sampler.Source, Frames: s.frames, Lines: s.lines, Roots: s.roots}
			return a.reportFleet(&v, func(in *interrupts) (*export.Report, error) {
				return a.reportKube(in, &f, kube.Request{Command: fleet.Command{Do: fleet.DoSample, Sample: how, Seconds: length.Seconds()}})
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&length, "for", 0, "sample for this `time`, such as 10s (default: until Ctrl-C)")
	f.add(fs)
	s.add(fs)
	fs.StringArrayVar(&s.roots, "root", nil, "keep samples below this `METHOD` alone, such as shop.Main.loop, with * for any text; may be repeated")
	fs.IntVar(&s.frames, "frames", 0, "look at the innermost `N` frames of a stack only; 0 for all")
	fs.BoolVar(&s.lines, "lines", false, "count source lines of the innermost frames, for JSON")
	v.add(cmd)
	fs.BoolVar(&asJSON, "json", false, "write JSON: the same as --format json")
	return cmd
}

func (a *app) kubeLocks() *cobra.Command {
	var f kubeRunFlags
	var k locksFlags
	cmd := &cobra.Command{
		Use:   "locks " + targetUse,
		Short: "Find deadlocks in the JVMs of pods, and with --for who waits for whom",
		Long: `Looks at the locks of the JVMs of all pods of a target, as rivulet locks does: deadlocks, and with --for
who waits for whom, put together by the lock's class and the contexts of waiter and owner.`,
		Example: `  rivulet kube locks deploy/orders
  rivulet kube locks deploy/orders --for 10s --json -o locks.json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			k.format, k.virtual = "text", true
			if err := errors.Join(k.check(cmd), f.check(cmd, args)); err != nil {
				return err
			}
			return a.with(k.file, a.stdout, func(in *interrupts, out *output) error {
				made, err := a.runKube(in, &f, kube.Request{Command: fleet.Command{
					Do: fleet.DoLocks, Locks: &fleet.Locks{Length: k.length, Hz: k.asked(), Exact: k.exact, Threshold: k.threshold},
				}})
				if err != nil {
					return err
				}
				j, failed := mergeLocks(answersIn[locksJSON](made))
				return errors.Join(failed, out.write(func(w io.Writer) error {
					if k.format == "json" {
						return writeJSON(w, j)
					}
					return writeFleetLocks(w, j, k.top)
				}))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&k.length, "for", 0, "look who waits for whom for this `time`, such as 10s")
	f.add(fs)
	fs.IntVar(&k.hz, "hz", 0, lockHzHelp)
	fs.BoolVar(&k.exact, "exact", false, "count and time each wait by JDK Flight Recorder")
	fs.DurationVar(&k.threshold, "threshold", 0, "with --exact, only waits of this `time` or longer")
	fs.IntVar(&k.top, "top", export.DefaultTop, "`N` rows in the text; 0 for all")
	fs.BoolVar(&k.asJSON, "json", false, "write JSON: an object with processes and locks")
	fs.StringVarP(&k.file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

func (a *app) kubeHeap() *cobra.Command {
	var f kubeRunFlags
	var dead, asJSON bool
	var file string
	top := export.DefaultTop
	cmd := &cobra.Command{
		Use:   "heap " + targetUse,
		Short: "Count the objects of each class in the JVMs of pods",
		Long: `Has the JVMs of all pods of a target count their objects by class, and adds up, as rivulet heap --histogram does for
one. Pods that have three times as much of a class as the median are named. Each JVM does a full collection before, during which
it stands still; --dead counts dead objects, too, without one. Heap dumps are not taken: they are large, and hold the program's data.`,
		Example: `  rivulet kube heap deploy/orders
  rivulet kube heap deploy/orders --pods 1 --json -o heap.json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if top < 0 {
				return usage("--top %d: give a number of classes, or 0 for all", top)
			}
			return a.with(file, a.stdout, func(in *interrupts, out *output) error {
				made, err := a.runKube(in, &f, kube.Request{Command: fleet.Command{Do: fleet.DoHeap, Heap: &fleet.Heap{All: dead}}})
				if err != nil {
					return err
				}
				j, failed := mergeHeaps(answersIn[attach.Histogram](made))
				if len(j.Classes) == 0 {
					return failed
				}
				return errors.Join(failed, out.write(func(w io.Writer) error {
					if asJSON || strings.HasSuffix(file, ".json") {
						return writeJSON(w, j)
					}
					return writeFleetHeap(w, j, top)
				}))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.BoolVar(&dead, "dead", false, "dead objects, too: without a collection before")
	fs.IntVar(&top, "top", top, "`N` classes in the text; 0 for all")
	fs.BoolVar(&asJSON, "json", false, "write JSON: an object with processes, classes and outliers")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

func (a *app) kubeThreads() *cobra.Command {
	var f kubeRunFlags
	var asJSON, stacks bool
	var file string
	how := kube.Threads{}
	cmd := &cobra.Command{
		Use:   "threads " + targetUse,
		Short: "Show the threads of the JVMs of pods, alike stacks of all put together",
		Long: `Asks the JVMs of all pods of a target for a thread dump, for which their threads stand still for some milliseconds, and
shows alike stacks of all pods of a program first, and then each pod's threads, as rivulet threads does.`,
		Example: `  rivulet kube threads deploy/orders
  rivulet kube threads deploy/orders --for 2s --json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if cmd.Flags().Changed("for") && how.Length <= 0 {
				return usage("--for %v: give a time above zero, such as 2s", how.Length)
			}
			return a.with(file, a.stdout, func(in *interrupts, out *output) error {
				made, err := a.runKube(in, &f, kube.Request{Command: fleet.Command{Do: kube.DoThreads}, Threads: &how})
				if err != nil {
					return err
				}
				all := &severalThreads{Schema: export.Schema, Kind: "threads", Groups: []programGroup{}}
				failed := eachAnswer(made, func(p fleetProcess, j *threadsJSON) {
					all.Processes = append(all.Processes, processThreads{p.Host, p.Main, p.PID, p.Error, j})
				})
				all.group()
				return errors.Join(failed, out.write(func(w io.Writer) error {
					if asJSON || strings.HasSuffix(file, ".json") {
						return writeJSON(w, all)
					}
					return all.write(w, stacks, tableWidth(out.w))
				}))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.DurationVar(&how.Length, "for", 0, "show the share of a core that each thread uses in this `time`, such as 2s")
	fs.BoolVar(&stacks, "stacks", false, "show the stack of each group whole")
	fs.BoolVar(&how.Virtual, "virtual", true, "virtual threads, too, where the JVM has them")
	fs.BoolVar(&asJSON, "json", false, "write JSON: processes and groups")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}
