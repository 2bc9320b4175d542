package foreign

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// buildRelink compiles the program, has it write the class with the invokedynamic
// instructions, and adds what JDK 8 lacks.
func buildRelink(t *testing.T, j jvmtest.JDK) []string {
	dir := filepath.Join(t.TempDir(), "classes")
	compiler := jvmtest.Any(t)
	old := jvmtest.Compile(t, compiler, 8, sources(t, "relink/relink", "relink"))
	if err := os.CopyFS(dir, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(j.Java(), "-cp", dir, "relink.Weave", dir))
	folders := []string{dir}
	if j.Version > 8 {
		folders = append(folders, jvmtest.Compile(t, compiler, 9, sources(t, "relink/newer/relink", "relink"), "-cp", old))
	}
	return []string{"-cp", classpath(folders...), "relink.Main"}
}

// buildNashorn compiles the Java program that runs the script.
func buildNashorn(t *testing.T, _ jvmtest.JDK) []string {
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, sources(t, "nashorn", ""))
	return []string{"-cp", classpath(dir, source(t, "nashorn")), "Work"}
}

func classpath(paths ...string) string { return strings.Join(paths, string(os.PathListSeparator)) }

// source returns the path of a file of testdata, for processes in any folder.
func source(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// sources reads the Java sources of a folder of testdata, as of that package ("" for none).
func sources(t *testing.T, dir, pkg string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, file := range jvmtest.Cases(t, filepath.Join("testdata", filepath.FromSlash(dir), "*.java")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[path.Join(pkg, filepath.Base(file))] = string(text)
	}
	return files
}

// run runs a step of a build.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
