package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// arm64Folder is where tools/arm64.sh puts what an emulated machine consists of.
func arm64Folder() (string, error) {
	dir := os.Getenv("RIVULET_ARM64")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "rivulet-arm64")
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "debs", "linux-image-*.deb")); len(found) == 0 {
		return "", fmt.Errorf("no packages of arm64 in %s: tools/arm64.sh fetches them", dir)
	}
	return dir, nil
}

// measureArm64 has the matrix tried on machines of arm64 that qemu emulates, one for each JDK.
func measureArm64(k *bench.Kit, dir string, page *bench.Page) error {
	all, err := kept(*keep, nil)
	if err != nil {
		return err
	}
	from, err := arm64Folder()
	if err != nil {
		return err
	}
	e := &emulator{Kit: k, from: from, dir: dir, found: map[int]map[string]string{}}
	if err := e.prepare(); err != nil {
		return err
	}
	m := &matrix{Kit: k, dir: dir, cells: all.Cells, configs: configs, columns: versions, title: "arm64", try: e.cell}
	m.begin = func(p *bench.Page, headings []string) {
		p.Measured(fmt.Sprintf("Measured on %s with %s; %s.", time.Now().Format(time.DateOnly), e.qemu, cmp.Or(strings.Join(e.said, ", "), "no machine")))
		p.Table(m.title, "The table of JVMs on arm64: Linux on a machine that qemu emulates, with packages of Debian's, everything of Rivulet's compiled for arm64. What is done and checked is the same. "+
			"Emulation runs threads on two cores at the same time, but orders memory as amd64 does, so it can't show what a weaker order would.", headings...)
	}
	return m.page(page, func() error { return all.write(*keep) })
}

// An emulator runs machines of arm64.
type emulator struct {
	*bench.Kit
	from, dir string
	kernel    string
	qemu      string   // its version
	said      []string // what the machines said of their kernel and JDK
	found     map[int]map[string]string
}

// prepare compiles for arm64, and unpacks the kernel.
func (e *emulator) prepare() error {
	out, err := exec.Command("qemu-system-aarch64", "--version").Output()
	if err != nil {
		return fmt.Errorf("no qemu for arm64: %w (tools/arm64.sh installs it)", err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	version := strings.Fields(strings.TrimPrefix(first, "QEMU emulator version "))
	e.qemu = "qemu " + version[0]
	for name, pkg := range map[string]string{"rivulet": ".", "harm": "./tools/harm"} {
		c := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(e.dir, name), pkg)
		c.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		if b, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s for arm64: %w\n%s", name, err, b)
		}
	}
	kernel := filepath.Join(e.dir, "kernel")
	if err := e.unpack(kernel, "linux-image-*.deb"); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(kernel, "boot", "vmlinuz-*"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d kernels in the package: %w", len(found), err)
	}
	e.kernel = found[0]
	return nil
}

// unpack unpacks packages into a folder.
func (e *emulator) unpack(to string, patterns ...string) error {
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(e.from, "debs", p))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("no %s in %s: tools/arm64.sh fetches it", p, e.from)
		}
		for _, f := range found {
			if b, err := exec.Command("dpkg", "-x", f, to).CombinedOutput(); err != nil {
				return fmt.Errorf("unpack %s: %w: %s", filepath.Base(f), err, b)
			}
		}
	}
	return nil
}

// booted is how long a machine may take to come up, and how long it may work for each configuration.
const (
	booted  = 5 * time.Minute
	perCell = 15 * time.Minute
)

var (
	cellLine  = regexp.MustCompile(`^\d\d:\d\d:\d\d JDK \d+, (.*?): (exact|refused|-|FAILED: .*)$`)
	machineOf = regexp.MustCompile(`^MACHINE (.*)$`)
)

// cell is what a machine with this JDK found of a configuration. It tries all that are wanted.
func (e *emulator) cell(c *config, j jdk.JDK) (string, error) {
	if e.found[j.Version] == nil {
		e.found[j.Version] = map[string]string{}
		if err := e.boot(j.Version); err != nil {
			return "", err
		}
	}
	cell := e.found[j.Version][c.name]
	if why, failed := strings.CutPrefix(cell, "FAILED: "); failed {
		return "", errors.New(why)
	}
	if cell == "" {
		return "", errors.New("the machine did not get to it")
	}
	return cell, nil
}

// boot runs a machine with a JDK until it has tried everything.
func (e *emulator) boot(version int) error {
	root := filepath.Join(e.dir, fmt.Sprint("root", version))
	defer os.RemoveAll(root)
	image := filepath.Join(e.dir, fmt.Sprint("image", version))
	defer os.Remove(image)
	log.Printf("JDK %d: making a machine of arm64", version)
	if err := e.unpack(root, "libc6_*.deb", "libgcc-s1_*.deb", "libstdc++6_*.deb", "zlib1g_*.deb", "busybox-static_*.deb", fmt.Sprintf("openjdk-%d-j??-headless_*.deb", version)); err != nil {
		return err
	}
	if err := e.furnish(root, version); err != nil {
		return err
	}
	if err := writeImage(image, root); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), booted+time.Duration(len(configs))*perCell)
	defer cancel()
	qemu := exec.CommandContext(ctx, "qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "6144", "-accel", "tcg,thread=multi",
		"-kernel", e.kernel, "-initrd", image, "-append", "console=ttyAMA0 quiet panic=-1", "-nographic", "-no-reboot", "-nic", "none")
	console, err := qemu.StdoutPipe()
	if err != nil {
		return err
	}
	if err := qemu.Start(); err != nil {
		return err
	}
	over, last := e.listen(version, console)
	if err := qemu.Wait(); err != nil || !over {
		return fmt.Errorf("the machine did not end by itself (%v); it said last: %s", err, last)
	}
	return nil
}

// listen takes what a machine finds from its console, until it is switched off. over tells whether it got to its end.
func (e *emulator) listen(version int, console io.Reader) (over bool, last string) {
	lines := bufio.NewScanner(console)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if m := cellLine.FindStringSubmatch(line); m != nil {
			e.found[version][m[1]] = m[2]
			log.Printf("JDK %d on arm64, %s: %s", version, m[1], m[2])
		}
		if m := machineOf.FindStringSubmatch(line); m != nil {
			e.said = append(e.said, m[1])
		}
		over = over || line == "OVER"
		if line != "" {
			last = line
		}
	}
	_, _ = io.Copy(io.Discard, console) // whatever is in the way of the scanner
	return over, last
}

//go:embed testdata/arm64-init.sh
var guestInit string

// furnish adds what is tried, and the first process.
func (e *emulator) furnish(root string, version int) error {
	for _, d := range []string{"lib", "bin", "sbin"} { // some packages have files in the old places
		old := filepath.Join(root, d)
		if _, err := os.Lstat(old); err == nil {
			if b, err := exec.Command("cp", "-a", old+"/.", filepath.Join(root, "usr", d)).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, b)
			}
			if err := os.RemoveAll(old); err != nil {
				return err
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(root, "usr", d), 0o755), os.Symlink(filepath.Join("usr", d), old)); err != nil {
			return err
		}
	}
	for _, d := range []string{"usr/share/doc", "usr/share/man", "usr/lib/jvm/*/jmods", "usr/lib/jvm/*/man"} {
		found, err := filepath.Glob(filepath.Join(root, d))
		if err != nil {
			return err
		}
		for _, f := range found {
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
	}
	for _, d := range []string{"proc", "sys", "dev", "tmp", "root", "run", "var/tmp", "work/docs/figures"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	only := ""
	if e.Only != "" {
		only = `-only "` + e.Only + `"` // a name may have an apostrophe
	}
	init := strings.NewReplacer("VERSION", fmt.Sprint(version), "ONLY", only).Replace(guestInit)
	files := map[string]string{
		"init": init, "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n", "etc/hosts": "127.0.0.1 localhost\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"rivulet", "harm"} {
		if err := os.Link(filepath.Join(e.dir, name), filepath.Join(root, "usr/bin", name)); err != nil {
			return err
		}
	}
	return nil
}
