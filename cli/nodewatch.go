package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/node"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/watch"
)

// nodeWatchFlags say which JVMs a node watches all the time, as rivulet watch does.
type nodeWatchFlags struct {
	which []string
	when  []string
	keep  time.Duration
	disk  string
	most  int

	selection fleet.Selection
}

func (f *nodeWatchFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.which, "watch", nil, "sample JVMs that `RULES` are true of all the time, and keep the samples: as for rivulet fleet --select, main=* is all; may be repeated: all must be true")
	fs.StringArrayVar(&f.when, "watch-when", nil, "with --watch, keep what came before this `RULE` came true, and say so: as rivulet watch --when; may be repeated")
	fs.DurationVar(&f.keep, "watch-keep", time.Hour, "with --watch, keep samples for this `time`")
	fs.StringVar(&f.disk, "watch-disk", "256M", "with --watch, `SIZE` on disk of each JVM's samples at the most, beside --disk")
	fs.IntVar(&f.most, "watch-most", 10, "with --watch, `N` JVMs at the most; others wait until one of them ends")
}

func (f *nodeWatchFlags) check() (err error) {
	if len(f.which) == 0 {
		if len(f.when) > 0 {
			return usage("--watch-when: give --watch, too, such as main=* for all JVMs")
		}
		return nil
	}
	if f.selection, err = fleet.ParseSelection(f.which); err != nil {
		return usage("--watch %w", err)
	}
	for _, text := range f.when {
		if _, err := watch.ParseRule(text); err != nil {
			return usage("--watch-when %w", err)
		}
	}
	if n, err := spec.ParseSize(f.disk); err != nil || n < leastDisk {
		return usage("--watch-disk %q: give a size such as 256M, 1M at the least", f.disk)
	}
	switch {
	case f.keep < 10*time.Second || f.keep > 1000*time.Hour:
		return usage("--watch-keep %v: give a time from 10s to 1000h", f.keep)
	case f.most < 1:
		return usage("--watch-most %d: give a number above zero", f.most)
	}
	return nil
}

// A nodeWatch starts and ends rivulet watch for JVMs of a node.
type nodeWatch struct {
	*nodeWatchFlags
	self string // the binary
	name string // of the node
	root string // where samples are kept
	jvms func(ctx context.Context) ([]fleet.JVM, error)
	say  func(text string)
	// events takes what rules came true; it may be full when the node ends.
	events chan<- fleet.Event

	mu      sync.Mutex
	running map[string]bool      // by folder's name
	failed  map[string]time.Time // when one ended that should not have
	told    bool                 // that there is no room for all; as long as there is none
	wg      sync.WaitGroup
}

const (
	nodeWatchEvery = 3 * time.Second
	nodeWatchAgain = time.Minute // after a watch that failed
)

// run watches until the context ends, and waits for what it has started.
func (w *nodeWatch) run(ctx context.Context) {
	w.running, w.failed = map[string]bool{}, map[string]time.Time{}
	defer w.wg.Wait()
	for {
		if found, err := w.jvms(ctx); err == nil {
			w.begin(ctx, found)
		}
		if err := watch.Forget(w.root, time.Now()); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.say("what was kept of JVMs that have ended: " + oneLine(err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(nodeWatchEvery):
		}
	}
}

// begin starts to watch those JVMs that are selected and not watched yet.
func (w *nodeWatch) begin(ctx context.Context, found []fleet.JVM) {
	w.mu.Lock()
	maps.DeleteFunc(w.failed, func(_ string, at time.Time) bool { return time.Since(at) >= nodeWatchAgain })
	w.mu.Unlock()
	for i := range found {
		j := &found[i]
		if !j.Attachable || !w.selection.Has(w.name, j) {
			continue
		}
		name, err := watch.NameOf(j.PID)
		if err != nil {
			continue // it has ended
		}
		w.mu.Lock()
		busy := w.running[name] || !w.failed[name].IsZero()
		full := len(w.running) >= w.most
		switch {
		case busy:
		case !full:
			w.told = false
		case !w.told:
			w.told = true
			w.say(fmt.Sprintf("%s (pid %d) is not watched, perhaps like others: --watch-most is %d", oneLine(export.Clean(j.Main)), j.PID, w.most))
		}
		if !busy && !full {
			w.running[name] = true
		}
		w.mu.Unlock()
		if busy || full {
			continue
		}
		w.wg.Go(func() {
			err := w.one(ctx, j, filepath.Join(w.root, name), oneLine(export.Clean(j.Main)))
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.running, name)
			if err != nil && ctx.Err() == nil {
				w.failed[name] = time.Now()
				w.say(fmt.Sprintf("%s (pid %d) is not watched any more: %s", oneLine(export.Clean(j.Main)), j.PID, oneLine(err.Error())))
			}
		})
	}
}

// one runs rivulet watch of one JVM until it, or the context, ends. It ends with this process, too.
func (w *nodeWatch) one(ctx context.Context, j *fleet.JVM, dir, main string) error {
	pid := j.PID
	// The kernel ends the child when the thread that has started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	args := []string{"watch", strconv.Itoa(pid), "--dir", dir, "--keep", w.keep.String(), "--before", min(w.keep/2, usualBefore).String(), "--disk", w.disk, "--json"}
	for _, rule := range w.when {
		args = append(args, "--when", rule)
	}
	cmd := exec.Command(w.self, args...)
	cmd.Args[0] = "rivulet"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT, Setpgid: true}
	var told strings.Builder
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGINT) })()
	w.say(fmt.Sprintf("watching %s (pid %d), samples are kept in %s", main, pid, dir))
	for in := bufio.NewScanner(out); in.Scan(); {
		e, err := eventOf(in.Bytes())
		if err != nil {
			w.say(fmt.Sprintf("%s (pid %d): %s", main, pid, oneLine(export.Clean(in.Text()))))
			continue
		}
		w.say(fmt.Sprintf("%s (pid %d): %s", main, pid, oneLine(export.Clean(e.Rule+": "+e.What))))
		e.JVM = *j
		e.JVM.Args = ""
		select {
		case w.events <- *e:
		case <-ctx.Done():
		}
	}
	if err := cmd.Wait(); err != nil {
		lines := strings.Split(strings.TrimSpace(told.String()), "\n")
		return fmt.Errorf("%w: %s", err, strings.TrimPrefix(lines[len(lines)-1], "rivulet: "))
	}
	return nil
}

// eventOf reads a line of rivulet watch --json.
func eventOf(line []byte) (*fleet.Event, error) {
	e := &fleet.Event{}
	err := json.Unmarshal(line, e)
	if err == nil && e.Rule == "" {
		err = errors.New("no event")
	}
	return e, err
}

// keptSamples is a report of what a node has kept of a JVM: the last samples, of some time.
func keptSamples(jobDir string, pid int, last time.Duration, o pcct.Options) (*export.Report, error) {
	name, err := watch.NameOf(pid)
	if err != nil {
		return nil, err
	}
	folder, err := watch.Read(filepath.Join(filepath.Dir(filepath.Dir(filepath.Clean(jobDir))), node.WatchDir, name))
	if errors.Is(err, watch.ErrNothing) {
		return nil, errNotWatched
	}
	if err != nil {
		return nil, err
	}
	path, from, until, err := (&watchRange{last: last}).find(folder, time.Now())
	if errors.Is(err, watch.ErrNothing) {
		return nil, errNotWatched
	}
	if err != nil {
		return nil, err
	}
	return watch.Report(path, from, until, o)
}

var errNotWatched = errors.New("this node has kept no samples of the process: rivulet node --watch has it keep them")

// watched marks the JVMs of which samples are being kept.
func (w *nodeWatch) watched(found []fleet.JVM) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range found {
		name, err := watch.NameOf(found[i].PID)
		found[i].Watched = err == nil && w.running[name]
	}
}
