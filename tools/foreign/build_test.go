//go:build foreign

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
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

// buildKotlin compiles the program once for all JDKs.
func buildKotlin(t *testing.T, _ jvmtest.JDK) []string {
	all := jars(t, "kotlin")
	library := only(t, all, "kotlin-stdlib-")
	dir := compiled(t, "kotlin", func(dir string) []string {
		return []string{
			"-cp", all, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-reflect", "-no-stdlib",
			"-cp", library, "-jvm-target", "17", "-d", dir, source(t, "kotlin/work.kt"),
		}
	})
	return []string{"-cp", classpath(dir, library), "work.WorkKt"}
}

// buildScala compiles the program once for all JDKs.
func buildScala(t *testing.T, _ jvmtest.JDK) []string {
	all := jars(t, "scala")
	library := only(t, all, "scala3-library_", "scala-library-")
	dir := compiled(t, "scala", func(dir string) []string {
		return []string{"-cp", all, "dotty.tools.dotc.Main", "-usejavacp", "-d", dir, source(t, "scala/work.scala")}
	})
	return []string{"-cp", classpath(dir, library), "work.Main"}
}

// compiled returns the folder that a compiler's command, java with arguments,
// has filled.
func compiled(t *testing.T, name string, args func(dir string) []string) string {
	t.Helper()
	dir := filepath.Join(scratch, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(jvmtest.Need(t, 17).Java(), args(dir)...))
	return dir
}

// only returns the entries of a class path whose files begin so.
func only(t *testing.T, all string, prefixes ...string) string {
	t.Helper()
	var out []string
	for _, prefix := range prefixes {
		for _, file := range filepath.SplitList(all) {
			if strings.HasPrefix(filepath.Base(file), prefix) {
				out = append(out, file)
			}
		}
	}
	if len(out) != len(prefixes) {
		t.Fatalf("no single %q in %s", prefixes, all)
	}
	return classpath(out...)
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

// jars returns the class path of what testdata/NAME/pom.xml asks for, fetched by
// Maven into the folder of the bench programs, once for each text of that file.
func jars(t *testing.T, name string) string {
	t.Helper()
	pom, err := os.ReadFile(filepath.Join("testdata", name, "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pom)
	dir := filepath.Join(jdk.Bench(), "foreign", name+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err != nil {
		fetch(t, pom, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no jars in %s: %v", dir, err)
	}
	return classpath(files...)
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
	run(t, cmd)
	if err := os.Rename(filepath.Join(tmp, "jars"), dir); err != nil {
		t.Fatal(err)
	}
}

// run runs a step of a build.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
