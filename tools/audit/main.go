// Command audit looks at what the binary and the page are made of: whether each module's licence
// is one that may be passed on with Rivulet, and whether one has a known vulnerability in code
// that is used. "go tool task lint" runs it from the repository's root.
//
// Licences are read from the modules at hand. Vulnerabilities take a database on the network:
// where that can't be reached this part is left out, which a line says, and is no failure.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	file := flag.String("notices", "", "write all licences and notices to a `file`, for a release, and do nothing else")
	flag.Parse()
	var err error
	if *file != "" {
		err = notices(*file)
	} else {
		err = errors.Join(licences(os.Stdout), vulnerabilities(os.Stdout))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A module is one that the binary has code of.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// modules lists those of the binary.
func modules() ([]module, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", ".")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOWORK=off") // as a release is built: other modules of the workspace ask for newer versions
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("audit: go list: %w", err)
	}
	seen := map[string]bool{}
	var out []module
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("audit: go list: %w", err)
		}
		if m := p.Module; m != nil && !m.Main && !seen[m.Path] {
			seen[m.Path] = true
			out = append(out, *m)
		}
	}
}

// licences names the licences of all modules, and fails for one that is not allowed.
func licences(w io.Writer) error {
	all, err := modules()
	if err != nil {
		return err
	}
	counts := map[string]int{}
	var wrong []error
	for _, m := range all {
		name, err := licenceOf(m.Dir)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("audit: %s %s: %w", m.Path, m.Version, err))
			continue
		}
		counts[name]++
	}
	packages, err := scripts("web/ui/package-lock.json")
	if err != nil {
		return err
	}
	for name, licence := range packages {
		if !slices.Contains(allowed, licence) {
			wrong = append(wrong, fmt.Errorf("audit: npm package %s: licence %q is none of %s", name, licence, strings.Join(allowed, ", ")))
			continue
		}
		if b, err := pageLicence(name); err != nil {
			wrong = append(wrong, err)
		} else if got, err := classify(string(b)); err != nil || got != licence {
			wrong = append(wrong, fmt.Errorf("audit: npm package %s: its text is %q, its lock file says %s", name, got, licence))
		}
		counts[licence]++
	}
	var list []string
	for _, name := range allowed {
		if n := counts[name]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, name))
		}
	}
	fmt.Fprintf(w, "licences: %d modules and %d npm packages: %s\n", len(all), len(packages), strings.Join(list, ", "))
	return errors.Join(wrong...)
}

// scripts are the licences of what is built into the page, by name.
func scripts(lock string) (map[string]string, error) {
	b, err := os.ReadFile(lock)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var file struct {
		Packages map[string]struct {
			License string
			Dev     bool
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("audit: %s: %w", lock, err)
	}
	out := map[string]string{}
	for path, p := range file.Packages {
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok && !p.Dev {
			out[name] = p.License
		}
	}
	return out, nil
}

// database is where govulncheck looks unless told otherwise.
const database = "https://vuln.go.dev"

// vulnerabilities runs govulncheck, where its database can be reached.
func vulnerabilities(w io.Writer) error {
	db := os.Getenv("GOVULNDB")
	if db == "" {
		db = database
	}
	if err := reachable(db); err != nil {
		fmt.Fprintf(w, "vulnerabilities: not looked for: their database can't be reached (%v)\n", err)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	program, out, err := govulncheck(ctx)
	if program != "" {
		defer os.RemoveAll(filepath.Dir(program))
		out, err = exec.CommandContext(ctx, program, "-db", db, ".").CombinedOutput()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		fmt.Fprintln(w, "vulnerabilities: none that is known in code that is used")
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == found:
		return fmt.Errorf("audit: known vulnerabilities:\n%s", out)
	}
	// The network failed meanwhile, or took too long.
	fmt.Fprintf(w, "vulnerabilities: not looked for: govulncheck: %v: %s\n", err, lastLine(out))
	return nil
}

// govulncheck builds it of its own module; "" where that fails, as without a network.
func govulncheck(ctx context.Context) (program string, out []byte, err error) {
	dir, err := os.MkdirTemp("", "rivulet-audit-")
	if err != nil {
		return "", nil, err
	}
	program = filepath.Join(dir, "govulncheck")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "tools/vulncheck", "-o", program, "golang.org/x/vuln/cmd/govulncheck")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err = cmd.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", out, fmt.Errorf("go build: %w", err)
	}
	return program, nil, nil
}

// found is govulncheck's exit code for vulnerabilities.
const found = 3

// reachable asks for the smallest file of the database; one in a folder always is.
func reachable(db string) error {
	if !strings.HasPrefix(db, "http") {
		return nil
	}
	client := &http.Client{Timeout: 5 * time.Second}
	resp, err := client.Head(db + "/index/db.json")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

// licenceOf names the licence in a module's folder.
func licenceOf(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		return classify(string(b))
	}
	return "", errors.New("no licence in its folder")
}
