package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// errUnread is wrapped where the classes in a program's memory can't be read.
var errUnread = errors.New("the program's classes can't be read from outside")

// A target is the running program.
type target struct {
	*proc.Proc
	pid      int
	counters string
	sizes    map[string]int // bytes of its methods' code, before anything was done to it; nil where that can't be read
	// A controller that is killed before its agent came up leaves the boot jar, which the next one that attaches removes: the JVM
	// may be about to open it.
	jarStays bool
	tmp, shm *os.File // its folders, which stay readable when it has ended; nil where it shares them with others
}

// start starts the program. With private it has /tmp and /dev/shm of its own, the latter of that
// many MB.
func (r *round) start(private bool, shmMB int, flags ...string) error {
	t := &target{counters: filepath.Join(r.dir, "counters")}
	os.Remove(t.counters)
	args := append([]string{"-Xmx64m"}, flags...)
	if r.jdk.Version >= 21 {
		args = append(args, "-XX:+EnableDynamicAgentLoading")
	}
	args = append(args, r.launch.flags...)
	if r.launch.class != nil {
		args = append(args, r.launch.class...)
	} else {
		args = append(args, "-cp", r.dir, "f.Faults")
	}
	args = append(args, t.counters)
	java := r.jdk.Java()
	if r.launch.java != "" {
		java = r.launch.java
	}
	cmd := exec.Command(java, args...)
	if r.launch.around != nil {
		all := append(append([]string{}, r.launch.around...), java)
		cmd = exec.Command(all[0], append(all[1:], args...)...)
	}
	if private {
		script := fmt.Sprintf(`mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777,size=%dm tmpfs /dev/shm && exec "$0" "$@"`, shmMB)
		cmd = exec.Command("unshare", append([]string{"-m", "sh", "-c", script, java}, args...)...)
	}
	var err error
	if t.Proc, err = proc.Start(cmd); err != nil {
		return err
	}
	r.t, t.pid = t, cmd.Process.Pid
	if _, err := t.line("READY"); err != nil {
		return err
	}
	if r.launch.started != nil {
		if err := r.launch.started(t.pid); err != nil {
			return err
		}
	}
	if private || r.launch.around != nil {
		for name, f := range map[string]**os.File{"tmp": &t.tmp, "dev/shm": &t.shm} {
			if *f, err = os.Open(fmt.Sprintf("/proc/%d/root/%s", t.pid, name)); err != nil {
				return err
			}
		}
	}
	if t.sizes, err = t.code(); err != nil && r.jdk.Version >= 11 {
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	return nil
}

// close ends the program, whatever it does.
func (t *target) close() {
	t.Kill()
	t.Wait() //nolint:errcheck // it was killed
	for _, f := range []*os.File{t.tmp, t.shm} {
		if f != nil {
			f.Close()
		}
	}
}

// line waits for a line of the program.
func (t *target) line(prefix string) (string, error) {
	timer := time.AfterFunc(*patient, t.Kill)
	s, err := t.Line(prefix)
	if err == nil && !timer.Stop() {
		err = errors.New("too late")
	}
	if err != nil {
		return "", fmt.Errorf("the program did not say %s within %v: %w: %s", prefix, *patient, err, t.Err.All())
	}
	return s, nil
}

// ask sends a command and waits for its answer.
func (t *target) ask(command, prefix string) error {
	if err := t.Send(command); err != nil {
		return fmt.Errorf("the program has ended: %w: %s%s", err, t.Out.All(), t.Err.All())
	}
	_, err := t.line(prefix)
	return err
}

// calls are the root calls that the program has begun and ended, and how many results were
// wrong. They can be read after its end.
func (t *target) calls() (begun, ended, wrong int64) {
	b, err := os.ReadFile(t.counters)
	if err != nil || len(b) < 4096 {
		return 0, 0, 0
	}
	at := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[i:])) }
	for w := range 2 {
		// What has ended is read second: it must not be more than what has begun.
		ended += at(16 + 16*w + 8)
		begun += at(16 + 16*w)
	}
	return begun, ended, at(0)
}

// code is how long the code of each method of the program is, as the JVM's memory has it.
func (t *target) code() (out map[string]int, err error) {
	for range 100 { // the JVM changes its lists while they are read
		if out, err = t.codeNow(); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return out, err
}

func (t *target) codeNow() (map[string]int, error) {
	classes, err := vmstructs.Classes(t.pid)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, c := range classes {
		if !strings.HasPrefix(c.Name, "f/") || strings.Contains(c.Name, "Lambda") {
			continue
		}
		for _, m := range c.Methods {
			out[c.Name+"."+m.Name+m.Desc] = m.Code
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no class of the program in its memory")
	}
	return out, nil
}

// changed is a method whose code is not that of before, "" if there is none.
func (t *target) changed() (string, error) {
	if t.sizes == nil {
		return "", nil
	}
	now, err := t.code()
	if err != nil {
		return "", err
	}
	for name, size := range t.sizes {
		if now[name] != size {
			return fmt.Sprintf("%s has %d bytes of code instead of %d", name, now[name], size), nil
		}
	}
	return "", nil
}

// left lists what is in the program of Rivulet's, beside what the documentation says stays.
func (t *target) left() (out []string) {
	dir := fmt.Sprintf("/proc/%d/", t.pid)
	tasks, _ := filepath.Glob(dir + "task/*/comm")
	for _, f := range tasks {
		if b, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(b), "rivulet") {
			out = append(out, "thread "+strings.TrimSpace(string(b)))
		}
	}
	maps, _ := os.ReadFile(dir + "maps")
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, ".rivulet") && !strings.Contains(line, "boot1.jar (deleted)") && !(t.jarStays && strings.Contains(line, "boot1.jar")) { // JDK 8 maps a jar's directory
			out = append(out, "mapping "+strings.TrimSpace(line[strings.IndexByte(line, '/'):]))
		}
	}
	fds, _ := filepath.Glob(dir + "fd/*")
	jars := 0 // JDK 8 has the jar open twice, others once
	for _, f := range fds {
		to, _ := os.Readlink(f)
		if !strings.Contains(to, ".rivulet") {
			continue
		}
		if t.jarStays {
			to = strings.TrimSuffix(to, " (deleted)") + " (deleted)"
		}
		if jars++; jars > 2 || !strings.HasSuffix(to, "boot1.jar (deleted)") {
			out = append(out, "descriptor "+to)
		}
	}
	return append(out, t.files()...)
}

// trigger is a file by which HotSpot is asked to listen, "" if there is none. A controller that is
// killed while it asks leaves one, and the next one that attaches removes it.
func (t *target) trigger() string {
	if t.tmp == nil {
		return ""
	}
	names, _ := filepath.Glob(fmt.Sprintf("/proc/self/fd/%d/.attach_pid*", t.tmp.Fd()))
	return strings.Join(names, ", ")
}

// files are those of Rivulet's in the program's own /tmp and /dev/shm.
func (t *target) files() (out []string) {
	for _, f := range []*os.File{t.tmp, t.shm} {
		if f == nil {
			continue
		}
		names, _ := filepath.Glob(fmt.Sprintf("/proc/self/fd/%d/.rivulet*", f.Fd()))
		for _, n := range names {
			if name := filepath.Base(n); !t.jarStays || !strings.HasPrefix(name, ".rivulet-boot-") {
				out = append(out, "file "+name)
			}
		}
	}
	return out
}
