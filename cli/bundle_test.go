package cli

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// TestBundle writes a bug report.
func TestBundle(t *testing.T) {
	f := newFake()
	f.checks = []doctor.Check{{Name: "java", Status: doctor.Failure, Text: "too old", Fix: "take a newer one"}}
	name := filepath.Join(t.TempDir(), "report.zip")
	var out, errs bytes.Buffer
	code := (&app{backend: f, stdout: &out, stderr: &errs}).run([]string{"doctor", "4711", "--root", "a.B.c", "--bundle", name})
	if code != exitFailed || !strings.Contains(out.String(), "too old") || !strings.Contains(errs.String(), "bundle written to "+name) {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	texts := map[string]string{}
	for _, file := range z.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[file.Name] = string(b)
		if strings.Contains(string(b), "fake-secret") {
			t.Errorf("%s has a secret: %s", file.Name, b)
		}
	}
	for name, want := range map[string]string{
		"README.txt": "flags.txt      flags\n", "version.json": `"agent_protocol"`, "checks.txt": "FAIL  java         too old\n", "checks.json": `"root": "a.B.c"`,
		"log.txt": "looking: option=-Dapp.x=***", "flags.txt": "UseG1GC",
	} {
		if !strings.Contains(texts[name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, texts[name])
		}
	}
}

// TestPlanted: a link of another user's in a folder like /tmp is not followed, in either of its ways.
func TestPlanted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	top := t.TempDir()
	dir, victim := filepath.Join(top, "tmp"), filepath.Join(top, "victim")
	os.Mkdir(dir, 0o777)
	os.Chmod(dir, 0o777|os.ModeSticky)
	os.WriteFile(victim, []byte("root's"), 0o600)
	name := filepath.Join(dir, "report")
	os.Symlink(victim, name)
	os.Lchown(name, 65533, 65533)
	if o, err := openOutput(name, io.Discard); err == nil {
		o.discard()
		t.Error("the link was followed")
	} else if !strings.Contains(err.Error(), "a link that another user") {
		t.Error(err)
	}
	os.Lchown(name, 0, 0) // one's own
	o, err := openOutput(name, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.write(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "new" {
		t.Errorf("one's own link was not followed: %q", b)
	}
}

// TestMaskLine: what a recording of Flight Recorder says of the command line has no secrets.
func TestMaskLine(t *testing.T) {
	s := &jfr.Summary{JVM: "OpenJDK", PID: 7, Arguments: "shop.Main --password=hunter2 in.txt"}
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		if err := writeSummary(&b, s, "a.jfr", asJSON, 0, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "hunter2") || !strings.Contains(b.String(), "shop.Main --password=***") {
			t.Errorf("%s", b.String())
		}
	}
}
