package cli

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// mostLog is how much of the log a bundle holds, in bytes.
const mostLog = 8 << 20

// A bounded buffer keeps what was written first. It is safe for concurrent use.
type bounded struct {
	mu   sync.Mutex
	b    bytes.Buffer
	left int64
}

func (w *bounded) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(p), mostLog-w.b.Len())
	w.b.Write(p[:n])
	w.left += int64(len(p) - n)
	return len(p), nil
}

func (w *bounded) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.b.String()
	if w.left > 0 {
		text += fmt.Sprintf("\n(%d bytes more)\n", w.left)
	}
	return text
}

// logged has a session's log kept, too.
func (a *app) logged(cfg session.Config) (session.Config, *bounded) {
	kept := &bounded{}
	var to io.Writer = kept
	if a.verbose {
		to = io.MultiWriter(kept, a.stderr)
	}
	cfg.Log = hclog.New(&hclog.LoggerOptions{Name: "rivulet", Level: hclog.Debug, Output: to})
	return cfg, kept
}

// bundle writes evidence as a zip file.
func (a *app) bundle(o *output, e *doctor.Evidence, report doctorJSON, log string) error {
	var checks strings.Builder
	if err := writeChecks(&checks, e.Checks); err != nil {
		return err
	}
	asJSON, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return err
	}
	version, revision := versionOf()
	v, err := json.MarshalIndent(versionJSON{export.Schema, "version", version, revision, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}, "", " ")
	if err != nil {
		return err
	}
	files := append([]doctor.EvidenceFile{
		{Name: "version.json", What: "this version of Rivulet", Text: string(v) + "\n"},
		{Name: "checks.txt", What: "what was found, and the way out", Text: checks.String()},
		{Name: "checks.json", What: "the same as JSON", Text: string(asJSON) + "\n"},
		{Name: "log.txt", What: "what Rivulet did to find it", Text: doctor.WithoutSecrets(log)},
	}, e.Files...)
	readme := "Files of \"rivulet doctor --bundle\", for a bug report. All are text.\n\n"
	for _, f := range files {
		readme += fmt.Sprintf("%-14s %s\n", f.Name, f.What)
	}
	readme += "\nThe program's arguments, environment and system properties, options of agents, and commands that the JVM\n" +
		"runs are left out or replaced by ***. Names are there: of the main class, the user, files and, where a root was\n" +
		"looked at, classes and methods. Look through it before you pass it on.\n"
	return o.write(func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, f := range append([]doctor.EvidenceFile{{Name: "README.txt", Text: readme}}, files...) {
			part, err := z.Create(f.Name)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(part, f.Text); err != nil {
				return err
			}
		}
		return z.Close()
	})
}
