package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// places are what containers and hardened services limit.
var places = []config{
	{name: "64 MB of `/dev/shm`", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777,size=64m tmpfs /dev/shm")},
	{name: "`/tmp` noexec, nosuid, nodev", prepare: mounted("mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs /tmp && mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs /dev/shm")},
	{name: "read-only root, `/tmp` and `/dev/shm` in memory", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount --bind %[1]s %[1]s && mount -o remount,bind,ro /")},
	{name: "read-only `/tmp`", refused: true, prepare: mounted("mount -t tmpfs -o ro,mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm")},
	{name: "no tmpfs at all that it may write to", refused: true, prepare: mounted("mount --bind %[1]s /tmp && chmod 1777 /tmp && for d in $(awk '$3 == \"tmpfs\" {print $2}' /proc/mounts); do mount -o remount,bind,ro $d; done")},
	{name: "user namespace, root there", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", "unshare", "--user", "--map-root-user")},
	{name: "user namespace, an ordinary user there", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", "unshare", "--user", "--map-user=1000", "--map-group=1000")},
	{name: "no capabilities, no new privileges", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")},
	{name: "system calls as in a container (seccomp)", prepare: underFilter},
	{name: "time namespace, eleven days ahead", prepare: mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", "unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000")},
	{name: "memory limit 48 MB above what it uses", prepare: pressed(48, false)}, // with 16 the program alone is killed
	{name: "Rivulet within it, memory limit 160 MB above what it uses", prepare: pressed(160, true)},
	{name: "Rivulet alone within 64 MB", prepare: alone("memory", "memory.limit_in_bytes", "64M")},
	{name: "Rivulet alone with a tenth of a core", prepare: alone("cpu", "cpu.cfs_quota_us", "10000")},
	{name: "Rivulet alone with 64 descriptors", prepare: func(*matrix, jdk.JDK, string) (launch, error) {
		return launch{rivulet: []string{"prlimit", "--nofile=64"}}, nil
	}},
}

// mounted starts the program in a mount namespace of its own, prepared by a shell script, in which %[1]s is the
// program's folder, and by a command.
func mounted(script string, command ...string) func(*matrix, jdk.JDK, string) (launch, error) {
	return func(m *matrix, _ jdk.JDK, _ string) (launch, error) {
		if err := mounts(); err != nil {
			return launch{}, fmt.Errorf("%w: %w", errAbsent, err)
		}
		text := script
		if strings.Contains(text, "%") {
			text = fmt.Sprintf(script, m.dir)
		}
		run := append(append([]string{}, command...), `"$0"`, `"$@"`)
		return launch{around: []string{"unshare", "--mount", "sh", "-c", text + " && exec " + strings.Join(run, " ")}}, nil
	}
}

// groups is where control groups are, version 1.
const groups = "/sys/fs/cgroup"

// newGroup makes a control group; remove is to be called when its processes have ended.
func newGroup(kind string) (group string, remove func(), err error) {
	group = filepath.Join(groups, kind, fmt.Sprintf("rivulet-harm-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.Mkdir(group, 0o755); err != nil {
		return "", nil, fmt.Errorf("%w: %w", errAbsent, err)
	}
	return group, func() {
		for range 250 { // until the kernel has done with its last process
			if err := os.Remove(group); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}, nil
}

// within is a command that runs another in a control group.
func within(group string) []string {
	return []string{"sh", "-c", "echo $$ >" + group + `/cgroup.procs && exec "$0" "$@"`}
}

// pressed has a control group whose limit is some MB above what the program uses when it is up; both says that Rivulet is
// in it as well.
func pressed(spare int64, both bool) func(*matrix, jdk.JDK, string) (launch, error) {
	return func(*matrix, jdk.JDK, string) (launch, error) {
		group, remove, err := newGroup("memory")
		if err != nil {
			return launch{}, err
		}
		started := func(int) error {
			b, err := os.ReadFile(filepath.Join(group, "memory.usage_in_bytes"))
			if err != nil {
				return err
			}
			used, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), fmt.Append(nil, used+spare<<20), 0)
		}
		script := "mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && echo $$ >" + group + `/cgroup.procs && exec "$0" "$@"`
		l := launch{around: []string{"unshare", "--mount", "sh", "-c", script}, started: started, done: remove}
		if both {
			l.rivulet = within(group)
		}
		return l, nil
	}
}

// alone has a control group with a limit for Rivulet.
func alone(kind, limit, value string) func(*matrix, jdk.JDK, string) (launch, error) {
	return func(*matrix, jdk.JDK, string) (launch, error) {
		group, remove, err := newGroup(kind)
		if err != nil {
			return launch{}, err
		}
		if err := os.WriteFile(filepath.Join(group, limit), []byte(value), 0); err != nil {
			remove()
			return launch{}, fmt.Errorf("%w: %w", errAbsent, err)
		}
		return launch{rivulet: within(group), done: remove}, nil
	}
}

// measurePlaces tries all places and writes what came of it.
func measurePlaces(k *bench.Kit, dir string, page *bench.Page) error {
	all, err := kept(*keep, nil)
	if err != nil {
		return err
	}
	if err := prepare(k, dir); err != nil {
		return err
	}
	m := &matrix{Kit: k, dir: dir, cells: all.Cells, configs: places, columns: []int{8, 17, 25}, title: "Places", begin: func(p *bench.Page, headings []string) {
		headings[0] = "the program's place|"
		p.Table("Places", "The program runs where something is limited, as in containers; Rivulet runs outside, as root, unless the row says otherwise. Each cell is one process. Steps, checks, *exact* and *refused* are those of the table of JVMs.", headings...)
	}}
	return m.page(page, func() error { return all.write(*keep) })
}
