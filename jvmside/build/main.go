// Command build makes the jars that package jvmside embeds: agent.jar from
// jvmside/src, prepared.jar from jvmside/prepared and demo.jar from jvmside/demo. Run from the repository's
// root by "go tool task agent".
//
// The same sources give the same bytes on every machine: one compiler
// version ([reference]) at language level 8, files in sorted order, entries
// without time and uncompressed (what a deflater writes differs between its
// versions).
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// reference is the JDK whose compiler makes the committed jars: others choose
// other bytes for the same source.
const reference = 17

// A jar says what goes into a jar.
type jar struct {
	Sources string            // folder of .java files, packages below it
	Out     string            // the jar file
	Main    map[string]string // main section of the manifest
	Exclude []string          // slash paths of class files left out; "dir/**" means all below
}

// The stubs stand for types of java.base that no compiler lets us name; the
// agent renames them when it defines the probe class.
var jars = []jar{
	{
		Sources: "jvmside/src",
		Out:     "jvmside/agent.jar",
		Main: map[string]string{
			"Agent-Class":             "rivulet.boot.Boot1",
			"Premain-Class":           "rivulet.boot.Boot1",
			"Can-Redefine-Classes":    "true",
			"Can-Retransform-Classes": "true",
		},
		Exclude: []string{"rivulet/probe/stub/**"},
	},
	{
		Sources: "jvmside/prepared",
		Out:     "jvmside/prepared.jar",
		Main: map[string]string{
			"Premain-Class":           "rivulet.prepared.Prepared",
			"Can-Redefine-Classes":    "true",
			"Can-Retransform-Classes": "true",
		},
	},
	{
		Sources: "jvmside/demo",
		Out:     "jvmside/demo.jar",
		Main:    map[string]string{"Main-Class": "shop.Main"},
	},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("build: ")
	any := flag.Bool("any", false, "take any compiler of JDK 9 or later if there is none of JDK 17: the jars work, but must not be committed")
	flag.Parse()
	compiler, err := pick(jdk.All(), *any)
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jars {
		if err := j.build(compiler); err != nil {
			log.Fatal(err)
		}
	}
}

// pick returns the JDK to compile with.
func pick(found []jdk.JDK, any bool) (jdk.JDK, error) {
	var have []string
	var last jdk.JDK
	for _, j := range found {
		if !j.HasJavac() || j.Version < 9 { // 8 has no --release
			continue
		}
		if j.Version == reference {
			return j, nil
		}
		have = append(have, j.String())
		last = j
	}
	if any && last.Home != "" {
		return last, nil
	}
	if have == nil {
		have = []string{"no JDK"}
	}
	return jdk.JDK{}, fmt.Errorf("the jars are built by javac of JDK %d, whose bytes others do not repeat; found %s: install it (openjdk-%d-jdk-headless) or set JAVA_HOME",
		reference, strings.Join(have, ", "), reference)
}

// build compiles the sources and writes the jar, if it differs from the one
// that is there.
func (j jar) build(compiler jdk.JDK) error {
	classes, err := os.MkdirTemp("", "rivulet-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(classes)
	if err := compile(compiler, j.Sources, classes); err != nil {
		return err
	}
	entries, err := collect(classes, j.Exclude)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := writeJar(&out, manifest(j.Main), entries); err != nil {
		return fmt.Errorf("%s: %w", j.Out, err)
	}
	if old, err := os.ReadFile(j.Out); err == nil && bytes.Equal(old, out.Bytes()) {
		fmt.Printf("%s: up to date, %d classes\n", j.Out, len(entries))
		return nil
	}
	// A reader must never see half a jar.
	tmp := j.Out + ".tmp"
	if err := os.WriteFile(tmp, out.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(tmp, j.Out); err != nil {
		return err
	}
	fmt.Printf("%s: %d classes, %d bytes, by %v\n", j.Out, len(entries), out.Len(), compiler)
	return nil
}

// compile runs javac on every .java file below dir.
func compile(compiler jdk.JDK, dir, classes string) error {
	sources, err := files(dir, ".java")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("no .java file below %s", dir)
	}
	cmd := exec.Command(compiler.Javac(), append([]string{
		"--release", "8",
		"-encoding", "UTF-8",
		"-g:source,lines", // no local variables: traces name lines, and the class files stay small
		"-proc:none",
		"-implicit:none",
		"-nowarn", "-Xlint:-options", // Unsafe and level 8, on purpose
		"-d", classes,
	}, sources...)...)
	// Options from outside would change what comes out.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "JAVA_TOOL_OPTIONS=") || strings.HasPrefix(kv, "JDK_JAVAC_OPTIONS=")
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("javac %s: %w\n%s", dir, err, text)
	}
	return nil
}

// collect reads the class files below a folder by their slash paths, without
// the excluded ones.
func collect(classes string, exclude []string) (map[string][]byte, error) {
	names, err := files(classes, ".class")
	if err != nil {
		return nil, err
	}
	entries := map[string][]byte{}
	for _, name := range names {
		rel, err := filepath.Rel(classes, name)
		if err != nil {
			return nil, err
		}
		rel = filepath.ToSlash(rel)
		if slices.ContainsFunc(exclude, func(pattern string) bool { return matches(pattern, rel) }) {
			continue
		}
		if entries[rel], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// matches compares a path with a pattern: "a/b/**" is everything below a/b,
// all else as path.Match has it.
func matches(pattern, name string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/**"); ok {
		return strings.HasPrefix(name, dir+"/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// files lists the files below a folder with that suffix, sorted.
func files(dir, suffix string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}
