//go:build servers

package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A server is one that is compiled, and what it stands on.
type server struct {
	path          []string // class path
	otel, coverer string   // agents' jars
}

// spring fetches and compiles the server for JDK 17 and later.
func spring(t *testing.T) (s server) {
	t.Helper()
	for _, jar := range jars(t, "spring") {
		switch name := filepath.Base(jar); {
		case strings.HasPrefix(name, "opentelemetry-javaagent-"):
			s.otel = jar
		case strings.HasPrefix(name, "org.jacoco.agent-"):
			s.coverer = jar
		default:
			s.path = append(s.path, jar)
		}
	}
	if s.otel == "" || s.coverer == "" {
		t.Fatal("Maven fetched no agents")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "spring", "app", "Main.java"))
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Need(t, 17), 17, map[string]string{"app/Main.java": string(text)}, "-parameters", "-cp", classpath(s.path))
	s.path = append([]string{dir}, s.path...)
	return s
}

func classpath(paths []string) string { return strings.Join(paths, string(os.PathListSeparator)) }

// start is the command that runs the server.
func (s server) start(t *testing.T, j jvmtest.JDK, agents bool) *exec.Cmd {
	var line []string
	if agents {
		line = append(line, "-javaagent:"+s.otel, "-javaagent:"+s.coverer+"=output=none",
			"-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none")
	}
	if j.Version >= 25 {
		line = append(line, "-Dnet.bytebuddy.experimental=true") // Hibernate's version of it doesn't know 25
	}
	line = append(line, "-Xmx512m", "-cp", classpath(s.path), "-Dserver.address=127.0.0.1", "-Dserver.port=0",
		"-Dspring.jpa.hibernate.ddl-auto=create", "-Dspring.jpa.open-in-view=false", "-Dspring.main.banner-mode=off", "-Dlogging.level.root=WARN", "app.Main")
	cmd := exec.Command(j.Java(), line...)
	cmd.Dir = t.TempDir()
	return cmd
}

// jars returns what testdata/NAME/pom.xml asks for, fetched by Maven into the folder
// of the bench programs, once for each text of that file.
func jars(t *testing.T, name string) []string {
	t.Helper()
	pom, err := os.ReadFile(filepath.Join("testdata", name, "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pom)
	dir := filepath.Join(jdk.Bench(), "servers", name+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err != nil {
		fetch(t, pom, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no jars in %s: %v", dir, err)
	}
	return files
}

func fetch(t *testing.T, pom []byte, dir string) {
	t.Helper()
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Skip("Maven not installed") // as root: apt-get install maven
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "pom.xml"), pom, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mvn, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(tmp, "jars"))
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	if err := os.Rename(filepath.Join(tmp, "jars"), dir); err != nil {
		t.Fatal(err)
	}
}
