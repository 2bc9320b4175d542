package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// apart has a command run with folders of temporary files of its own: what rounds leave, or find, is theirs.
const apart = `mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$0" "$@"`

// runAtOnce has several processes do the rounds, each with seeds of its own, and adds up what they found.
func runAtOnce(k *bench.Kit, dir string, all *outcomes) error {
	if err := mounts(); err != nil {
		return fmt.Errorf("-at-once: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt) // the processes end after their present rounds
	defer end()
	found := make([]*outcomes, *atOnce)
	errs := make([]error, *atOnce)
	var wait sync.WaitGroup
	for i := range found {
		own := filepath.Join(dir, fmt.Sprint("process", i))
		if err := os.MkdirAll(filepath.Join(own, "docs", "figures"), 0o755); err != nil {
			return err
		}
		// Where they see them: not below /tmp.
		binary, rivulet := filepath.Join(own, "harm"), filepath.Join(own, "rivulet")
		for to, from := range map[string]string{binary: self, rivulet: k.Rivulet} {
			if b, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, b)
			}
		}
		file := filepath.Join(own, "outcomes.json")
		share := (*rounds + *atOnce - 1) / *atOnce
		c := exec.Command("unshare", "--mount", "sh", "-c", apart, binary, "-part", "faults", "-rivulet", rivulet, "-jdk", k.JDK, "-only", k.Only,
			"-rounds", fmt.Sprint(share), "-seed", fmt.Sprint(*seed+uint64(i*share)), "-limit", limit.String(), "-patience", patient.String(), "-keep", file)
		c.Dir, c.Stderr = own, os.Stderr
		wait.Go(func() {
			err := c.Start()
			if err == nil {
				stop := context.AfterFunc(ctx, func() { c.Process.Signal(os.Interrupt) }) //nolint:errcheck // it may have ended
				err = c.Wait()                                                            // an error of a round is in the file
				stop()
			}
			var read error
			if found[i], read = kept(file, nil); read != nil || len(found[i].Seeds) == 0 {
				errs[i] = fmt.Errorf("process %d: %w", i, errors.Join(err, read))
			}
		})
	}
	wait.Wait()
	for _, o := range found {
		if o != nil {
			all.add(o)
		}
	}
	log.Printf("%d processes have done their rounds", *atOnce)
	return errors.Join(errs...)
}

// add adds what another process found.
func (all *outcomes) add(o *outcomes) {
	all.Seeds = append(all.Seeds, o.Seeds...)
	for name, f := range o.Faults {
		sum := all.Faults[name]
		sum.Rounds += f.Rounds
		sum.Recording += f.Recording
		sum.Silent = append(sum.Silent, f.Silent...)
		sum.Restored = append(sum.Restored, f.Restored...)
		sum.Reports += f.Reports
		sum.Reported += f.Reported
		sum.Exact += f.Exact
		sum.Again += f.Again
		sum.Late += f.Late
		sum.Failed = append(sum.Failed, f.Failed...)
		all.Faults[name] = sum
	}
}
