package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A part is what a release has code of: a Go module, the Go library, an npm package.
type part struct {
	name  string
	texts [][]byte // of its licence, and its notice if it has one
}

// notices writes the licences and notices of all that a release has code of to a file, in the order of their names.
func notices(file string) error {
	all, err := modules()
	if err != nil {
		return err
	}
	var parts []part
	for _, m := range all {
		texts, err := textsOf(m.Dir)
		if err != nil {
			return fmt.Errorf("audit: %s %s: %w", m.Path, m.Version, err)
		}
		parts = append(parts, part{m.Path + " " + m.Version, texts})
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("audit: go env: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(root)), "\n")
	texts, err := goLicence(lines[0])
	if err != nil {
		return err
	}
	parts = append(parts, part{"Go standard library " + lines[1], texts})
	packages, err := scripts("web/ui/package-lock.json")
	if err != nil {
		return err
	}
	for name := range packages {
		b, err := pageLicence(name)
		if err != nil {
			return err
		}
		parts = append(parts, part{"npm package " + name, [][]byte{b}})
	}
	return os.WriteFile(file, written(parts), 0o644)
}

// written is the text of all parts.
func written(parts []part) []byte {
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	b.WriteString("Rivulet contains code of what is listed here, under the licences that follow each name.\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 80), p.name)
		for _, text := range p.texts {
			fmt.Fprintf(&b, "\n%s\n", bytes.TrimSpace(text))
		}
	}
	return b.Bytes()
}

// textsOf are the licence and the notices in a module's folder.
func textsOf(dir string) (texts [][]byte, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	licensed := false
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		licence := strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING")
		if f.IsDir() || !licence && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "PATENTS") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		licensed = licensed || licence
		texts = append(texts, b)
	}
	if !licensed {
		return nil, errors.New("no licence in its folder")
	}
	return texts, nil
}

// goLicence is that of the Go library, which some packagers put beside GOROOT.
func goLicence(root string) ([][]byte, error) {
	for _, dir := range []string{root, filepath.Dir(root)} {
		if texts, err := textsOf(dir); err == nil {
			return texts, nil
		}
	}
	return nil, fmt.Errorf("audit: no licence in %s", root)
}

// pageLicence is the licence of an npm package that is built into the page.
func pageLicence(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join("web/ui/licences", strings.ReplaceAll(name, "/", "_")+".txt"))
	if err != nil {
		return nil, fmt.Errorf("audit: the page has code of %s, whose licence has to lie there: %w", name, err)
	}
	return b, nil
}
