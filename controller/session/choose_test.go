package session

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

func TestAgentPrefix(t *testing.T) {
	for class, want := range map[string]string{
		"io.opentelemetry.javaagent.OpenTelemetryAgent": "io/opentelemetry/javaagent/",
		"org.jacoco.agent.rt.internal_aeaf9ab.PreMain":  "org/jacoco/agent/rt/",
		"rivulet.prepared.Prepared":                     "rivulet/prepared/",
		"agent.Main":                                    "",
		"Main":                                          "",
		"":                                              "",
	} {
		if got := agentPrefix(class); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

// TestSuited is the rule by which Scheme D is taken where that is left open.
func TestSuited(t *testing.T) {
	for _, test := range []struct {
		active bool
		calls  int64
		large  bool
		want   bool
	}{
		{false, 0, false, false},
		{false, 0, true, false},
		{true, FewCalls - 1, false, false},
		{true, FewCalls - 1, true, true},
		{true, FewCalls, false, true},
	} {
		err := suited(test.active, test.calls, test.large)
		if (err == nil) != test.want || errors.Is(err, errIdle) == test.active {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestAgentsOf finds agents by the manifests of their jars, and takes none of Rivulet's own
// for another's.
func TestAgentsOf(t *testing.T) {
	dir := t.TempDir()
	p := attach.Process{PID: os.Getpid()}
	for name, class := range map[string]string{"otel.jar": "io.opentelemetry.javaagent.OpenTelemetryAgent", "boot1.jar": "rivulet.boot.Boot1", "top.jar": "Top"} {
		file := filepath.Join(dir, name)
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("META-INF/MANIFEST.MF")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "Manifest-Version: 1.0\r\nPremain-Class: %s\r\n\r\n", class)
		if err := errors.Join(z.Close(), os.WriteFile(file, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		p.Options = append(p.Options, "-javaagent:"+file+"=a=b")
	}
	p.Options = append(p.Options, "-Xmx1g", "-javaagent:"+filepath.Join(dir, "missing.jar"))
	prepared := filepath.Join(dir, "prepared.jar")
	if err := os.WriteFile(prepared, jvmside.PreparedJar(), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Options = append(p.Options, "-javaagent:"+prepared)
	own := map[string]bool{"boot1.jar=a=b": true, "prepared.jar": true}
	for _, o := range p.Options {
		if got := isOwnAgent(p.PID, o); got != own[filepath.Base(o)] {
			t.Errorf("%s is Rivulet's own: %v", o, got)
		}
	}
	if got := agentsOf(p); len(got) != 1 || got[0] != (agentCode{"otel.jar", "io/opentelemetry/javaagent/"}) {
		t.Errorf("agents %+v", got)
	}
}
