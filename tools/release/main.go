// Command release makes what is handed out: static binaries for Linux, packages, a container image, checksums, and
// what is in them (SBOM). "go tool task release" runs it from the repository's root.
//
// Everything is a function of the commit: times are the commit's, and paths of the machine are in no file. With -again
// all is made a second time from a checkout at another place with an empty build cache, and compared.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	out   = flag.String("out", "dist", "`folder` for the files; it is made anew")
	archs = flag.String("arch", "amd64,arm64", "`architectures`, as Go names them")
	again = flag.Bool("again", false, "make all a second time elsewhere, and compare")
)

// A release is what is being made.
type release struct {
	source, dir string // the checkout; where the files go
	cache       string // the build cache, "" for the usual one
	version     string // without v
	revision    string // the commit
	made        time.Time
}

// A product is one architecture's binary.
type product struct{ arch, file string }

func main() {
	log.SetFlags(log.Ltime)
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	source, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	first := &release{source: source, dir: dir}
	if err := first.make(); err != nil {
		return err
	}
	if !*again {
		return nil
	}
	return first.compare()
}

// make writes all files.
func (r *release) make() error {
	seconds, err := output(r.source, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.made = time.Unix(n, 0).UTC()
	if err := r.named(); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.dir), os.MkdirAll(r.dir, 0o755)); err != nil {
		return err
	}
	var all []product
	for arch := range strings.SplitSeq(*archs, ",") {
		p, err := r.build(arch)
		if err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		all = append(all, p)
	}
	papers, err := r.papers()
	if err != nil {
		return err
	}
	for _, p := range all {
		for _, write := range []func(product, []entry) error{r.tar, r.deb, r.rpm, r.sbom} {
			if err := write(p, append([]entry{{"/usr/bin/rivulet", p.file, 0o755}}, papers...)); err != nil {
				return fmt.Errorf("%s: %w", p.arch, err)
			}
		}
	}
	if err := r.image(all, papers); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	for _, dir := range []string{"bin", "papers"} {
		if err := os.RemoveAll(filepath.Join(r.dir, dir)); err != nil {
			return err
		}
	}
	return r.sums()
}

// named finds the version: the tag at the commit, or one made of the commit's time and id, as Go does.
func (r *release) named() (err error) {
	if r.revision, err = output(r.source, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	tag, err := output(r.source, "git", "tag", "--points-at", "HEAD", "--list", "v*", "--sort=-version:refname")
	if err != nil {
		return err
	}
	tag, _, _ = strings.Cut(tag, "\n")
	if r.version = strings.TrimPrefix(tag, "v"); tag == "" {
		r.version = "0.0.0-" + r.made.Format("20060102150405") + "-" + r.revision[:12]
	}
	changes, err := output(r.source, "git", "status", "--porcelain")
	if changes != "" {
		r.version += "+dirty"
	}
	return err
}

// build makes a binary that needs no library.
func (r *release) build(arch string) (product, error) {
	p := product{arch, filepath.Join(r.dir, "bin", arch, "rivulet")}
	const cli = "github.com/rivulet-profiler/rivulet/cli."
	flags := "-s -w -buildid= -X " + cli + "released=v" + r.version + " -X " + cli + "releasedRevision=" + r.revision
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", p.file, ".")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOWORK=off")
	if r.cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+r.cache)
	}
	log.Printf("building for %s", arch)
	if b, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w: %s", err, b)
	}
	return p, nil
}

// name is a file's.
func (r *release) name(p product, ending string) string {
	return filepath.Join(r.dir, "rivulet_"+r.version+"_linux_"+p.arch+ending)
}

// sums writes SHA256SUMS, as sha256sum -c reads it.
func (r *release) sums() error {
	names, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(r.dir, n.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), n.Name())
		log.Printf("%7.1f MB  %s", float64(len(data))/1e6, n.Name())
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), b.Bytes(), 0o644)
}

// compare makes all once more, elsewhere and from nothing. The error names the files that differ.
func (r *release) compare() error {
	temp, err := os.MkdirTemp("", "rivulet-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	checkout := filepath.Join(temp, "checkout")
	if _, err := output(r.source, "git", "worktree", "add", "--detach", checkout, "HEAD"); err != nil {
		return err
	}
	defer output(r.source, "git", "worktree", "remove", "--force", checkout) //nolint:errcheck // it lies in a temporary folder
	second := &release{source: checkout, dir: filepath.Join(temp, "dist"), cache: filepath.Join(temp, "cache")}
	if err := second.make(); err != nil {
		return fmt.Errorf("the second time: %w", err)
	}
	var sums [2][]string
	for i, s := range []*release{r, second} {
		b, err := os.ReadFile(filepath.Join(s.dir, "SHA256SUMS"))
		if err != nil {
			return err
		}
		sums[i] = strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	if !slices.Equal(sums[0], sums[1]) {
		return fmt.Errorf("the second time other bytes came out; a checkout with changes gives other ones:\n%s\nand\n%s", strings.Join(sums[0], "\n"), strings.Join(sums[1], "\n"))
	}
	log.Printf("made twice, %d files are equal", len(sums[0]))
	return nil
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(b)), nil
}
