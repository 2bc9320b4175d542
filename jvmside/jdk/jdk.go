// Package jdk finds the JDKs of this machine: for building the jars, for
// starting the demo, and for tests that want several versions.
//
// It looks at JAVA_HOME, at the folder of the bench programs (RIVULET_BENCH,
// else ~/.cache/rivulet-bench, with JDKs at jdk/N/home), at java on the PATH,
// and below /usr/lib/jvm, in this order. A folder counts if it
// has bin/java and says its version, in its release file or else by running
// it. What was found is remembered for the life of the process; all functions
// are safe for concurrent use.
package jdk

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A JDK is a Java installation, with or without compiler.
type JDK struct {
	Version int    // feature version: 8, 11, 17, ...
	Full    string // "17.0.15", "1.8.0_504"
	Home    string // the folder that holds bin/java, without symbolic links
}

// Java returns the path of the java command.
func (j JDK) Java() string { return filepath.Join(j.Home, "bin", "java") }

// Javac returns the path of the compiler, which is not there in a bare
// runtime: see [JDK.HasJavac].
func (j JDK) Javac() string { return filepath.Join(j.Home, "bin", "javac") }

// HasJavac reports whether there is a compiler.
func (j JDK) HasJavac() bool { return executable(j.Javac()) }

// String returns "JDK 17 (17.0.15, /usr/lib/jvm/...)".
func (j JDK) String() string { return fmt.Sprintf("JDK %d (%s, %s)", j.Version, j.Full, j.Home) }

// Bench returns the folder of the bench programs, whether or not it is there.
func Bench() string {
	if dir := os.Getenv("RIVULET_BENCH"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "rivulet-bench") // where the scripts that fetch them have it
}

// All returns one JDK per feature version, lowest version first. Among
// several of one version the first with a compiler wins, else the first.
func All() []JDK { return slices.Clone(all()) }

// Find returns the JDK of that feature version.
func Find(version int) (JDK, bool) {
	for _, j := range all() {
		if j.Version == version {
			return j, true
		}
	}
	return JDK{}, false
}

// Default returns what a person means who says no version: the one of
// JAVA_HOME, else the one on the PATH, else the newest one found.
func Default() (JDK, bool) {
	for _, home := range []string{os.Getenv("JAVA_HOME"), onPath()} {
		if home == "" {
			continue
		}
		if j, err := At(home); err == nil {
			return j, true
		}
	}
	found := all()
	if len(found) == 0 {
		return JDK{}, false
	}
	return found[len(found)-1], true
}

var all = sync.OnceValue(func() []JDK {
	byVersion := map[int]JDK{}
	for _, home := range homes() {
		j, err := At(home)
		if err != nil {
			continue // a broken or foreign folder is no JDK
		}
		have, ok := byVersion[j.Version]
		if !ok || !have.HasJavac() && j.HasJavac() {
			byVersion[j.Version] = j
		}
	}
	var found []JDK
	for _, j := range byVersion {
		found = append(found, j)
	}
	slices.SortFunc(found, func(a, b JDK) int { return a.Version - b.Version })
	return found
})

func homes() []string {
	var dirs []string
	if dir := os.Getenv("JAVA_HOME"); dir != "" {
		dirs = append(dirs, dir)
	}
	if bench := Bench(); bench != "" {
		dirs = append(dirs, glob(filepath.Join(bench, "jdk", "*", "home"))...)
	}
	if home := onPath(); home != "" {
		dirs = append(dirs, home)
	}
	return append(dirs, glob("/usr/lib/jvm/*")...)
}

// glob leaves out the error: it can only be a malformed pattern, which would
// come from brackets in RIVULET_BENCH, where nothing found is the answer.
func glob(pattern string) []string {
	dirs, _ := filepath.Glob(pattern)
	return dirs
}

// onPath returns the home of the java command on the PATH, or "".
func onPath() string {
	java, err := exec.LookPath("java")
	if err != nil {
		return ""
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return ""
	}
	home := filepath.Dir(filepath.Dir(java))
	if filepath.Base(home) == "jre" { // JDK 8: the runtime is a folder of the JDK
		if outer := filepath.Dir(home); executable(filepath.Join(outer, "bin", "javac")) {
			return outer
		}
	}
	return home
}

// At returns the JDK in a folder. The error says why the folder has none.
func At(home string) (JDK, error) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return JDK{}, fmt.Errorf("jdk: %w", err)
	}
	j := JDK{Home: home}
	if !executable(j.Java()) {
		return JDK{}, fmt.Errorf("jdk: %s has no bin/java that can be run", home)
	}
	// Debian's OpenJDK 8 comes without a release file.
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err == nil {
		j.Full = releaseVersion(release)
	}
	if j.Full == "" {
		out, err := exec.Command(j.Java(), "-version").CombinedOutput()
		if err != nil {
			return JDK{}, fmt.Errorf("jdk: %s -version: %w: %s", j.Java(), err, bytes.TrimSpace(out))
		}
		if m := quoted.FindSubmatch(out); m != nil {
			j.Full = string(m[1])
		}
	}
	if j.Version = feature(j.Full); j.Version == 0 {
		return JDK{}, fmt.Errorf("jdk: %s does not say its version", home)
	}
	return j, nil
}

// quoted finds the version in what java -version prints first:
// openjdk version "17.0.15" 2025-04-15
var quoted = regexp.MustCompile(`version "([^"]+)"`)

// releaseVersion returns JAVA_VERSION of a release file, or "".
func releaseVersion(text []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			return strings.Trim(v, `"`)
		}
	}
	return ""
}

// feature returns 8 for "1.8.0_504" and 17 for "17.0.15" or "17-ea", 0 for
// what is no version.
func feature(full string) int {
	full = strings.TrimPrefix(full, "1.")
	end := strings.IndexFunc(full, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(full)
	}
	n, err := strconv.Atoi(full[:end])
	if err != nil {
		return 0
	}
	return n
}

func executable(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}
