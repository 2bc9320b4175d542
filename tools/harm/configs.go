package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A config is one way to start a JVM: a row of the matrix.
type config struct {
	name     string
	flags    []string
	from, to int // the JDKs that have it, 0 for no limit
	whole    bool
	refused  bool   // a recording has to be refused, with a reason
	says     string // a regular expression of what the JVM prints on standard error, whatever the agent
	warned   string // the doctor warns of the refusal by these words; "" if it refuses, too
	// prepare makes what it takes, in an empty folder.
	prepare func(m *matrix, j jdk.JDK, dir string) (launch, error)
}

// plain is the name as -only takes it, without Markdown and what comes after a comma.
func (c *config) plain() string {
	name, _, _ := strings.Cut(strings.ReplaceAll(c.name, "`", ""), ",")
	return name
}

// lacking reports whether a JDK has no such thing, by its version.
func (c *config) lacking(j jdk.JDK) bool {
	return c.from > j.Version || c.to != 0 && c.to < j.Version
}

// A launch is how the program is started where that is not the usual way.
type launch struct {
	java  string   // "" for the JDK's
	flags []string // more of them
	class []string // instead of -cp and the main class
	// around is a command to which the java command is added; a shell script has it as "$0" "$@".
	around  []string
	rivulet []string            // so for the command of Rivulet's
	started func(pid int) error // called when it is up; nil for nothing
	done    func()              // called when it has ended; nil for nothing
}

// configs are the rows. Those without a collector have the JDK's own choice.
var configs = []config{
	{name: "default", whole: true},
	{name: "Serial", flags: []string{"-XX:+UseSerialGC"}},
	{name: "Parallel", flags: []string{"-XX:+UseParallelGC"}},
	{name: "G1", flags: []string{"-XX:+UseG1GC"}},
	{name: "ZGC", flags: []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"}, from: 11},
	{name: "generational ZGC", flags: []string{"-XX:+UseZGC", "-XX:+ZGenerational"}, from: 21, to: 21},
	{name: "Shenandoah", flags: []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"}, from: 11},
	{name: "generational Shenandoah", flags: []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"}, from: 25},
	{name: "`-Xint`", flags: []string{"-Xint"}},
	{name: "`-Xcomp`", flags: []string{"-Xcomp"}},
	{name: "`-XX:TieredStopAtLevel=1`", flags: []string{"-XX:TieredStopAtLevel=1"}},
	{name: "`-XX:-TieredCompilation`", flags: []string{"-XX:-TieredCompilation"}},
	{name: "GraalVM's compiler", prepare: graal, from: 17, to: 21},
	{name: "musl", whole: true, prepare: musl, from: 17, to: 17},
	{name: "`-Xcheck:jni`", flags: []string{"-Xcheck:jni"}},
	{name: "`-Xverify:all`", flags: []string{"-Xverify:all"}},
	{name: "security manager", prepare: policy("grant { permission java.security.AllPermission; };"), to: 17},
	{name: "no permissions for the agent, security manager", prepare: policy(`grant codeBase "file:%s/-" { permission java.security.AllPermission; };`), to: 17, refused: true, warned: "runs under a security manager"},
	{name: "class data sharing off", flags: []string{"-Xshare:off"}},
	{name: "dynamic archive (AppCDS)", prepare: archived, from: 17},
	{name: "`-XX:-UseCompressedOops`", flags: []string{"-XX:-UseCompressedOops"}},
	{name: "`-XX:-UseCompressedClassPointers`", flags: []string{"-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"}, to: 24},
	{name: "compact object headers", flags: []string{"-XX:+UseCompactObjectHeaders"}, from: 25},
	{name: "`-Xmx32m`", flags: []string{"-Xmx32m"}},
	{name: "`-Xss256k`", flags: []string{"-Xss256k"}},
	{name: "main class in a module", prepare: modular, from: 11, says: "java.instrument|Restricted methods|A restricted method"}, // from JDK 24 on, of any agent
	{name: "`jlink`, `java.base` and `java.instrument`", prepare: linked("java.base,java.instrument"), from: 11},
	{name: "`jlink`, `java.base` alone", prepare: linked("java.base"), from: 11, refused: true},
	{name: "`-XX:+DisableAttachMechanism`", flags: []string{"-XX:+DisableAttachMechanism"}, refused: true},
	{name: "`-XX:-EnableDynamicAgentLoading`", flags: []string{"-XX:-EnableDynamicAgentLoading"}, from: 11, refused: true},
}

// graals are versions of GraalVM's compiler that fit JDKs, and what they consist of.
var graals = map[int][]string{
	17: {"org.graalvm.compiler:compiler:22.3.5", "org.graalvm.sdk:graal-sdk:22.3.5", "org.graalvm.truffle:truffle-api:22.3.5"},
	21: {"org.graalvm.compiler:compiler:23.1.2", "org.graalvm.sdk:collections:23.1.2", "org.graalvm.sdk:word:23.1.2", "org.graalvm.truffle:truffle-compiler:23.1.2"},
}

// graal has GraalVM's compiler in place of C2.
func graal(_ *matrix, j jdk.JDK, _ string) (launch, error) {
	var path []string
	for _, what := range graals[j.Version] {
		file, err := artifact(what)
		if err != nil {
			return launch{}, fmt.Errorf("%w: %w", errAbsent, err)
		}
		path = append(path, file)
	}
	modules := strings.Join(path, string(filepath.ListSeparator))
	return launch{flags: []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI", "-XX:+UseJVMCICompiler", "--upgrade-module-path=" + modules, "--module-path=" + modules}}, nil
}

// musl has a JVM that was built for musl, the C library of Alpine Linux.
func musl(_ *matrix, _ jdk.JDK, _ string) (launch, error) {
	dir := os.Getenv("RIVULET_MUSL")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return launch{}, err
		}
		dir = filepath.Join(base, "rivulet-musl")
	}
	java := filepath.Join(dir, "jdk", "bin", "java")
	if _, err := os.Stat(java); err != nil {
		return launch{}, fmt.Errorf("%w: no JVM for musl in %s: tools/musl.sh builds it", errAbsent, dir)
	}
	return launch{java: java}, nil
}

// policy has a security manager with this policy file; %s is the program's folder.
func policy(text string) func(*matrix, jdk.JDK, string) (launch, error) {
	return func(m *matrix, _ jdk.JDK, dir string) (launch, error) {
		file := filepath.Join(dir, "policy")
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, m.dir)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return launch{}, err
		}
		return launch{flags: []string{"-Djava.security.manager", "-Djava.security.policy==" + file}}, nil
	}
}

// archived has the program's classes and the JDK's in a dynamic archive.
func archived(m *matrix, j jdk.JDK, dir string) (launch, error) {
	file := filepath.Join(dir, "classes.jsa")
	jar, err := m.jar(j, dir)
	if err != nil {
		return launch{}, err
	}
	class := []string{"-cp", jar, "f.Faults"}
	cmd := exec.Command(j.Java(), append(append([]string{"-Xmx64m", "-XX:ArchiveClassesAtExit=" + file}, class...), filepath.Join(dir, "counters"))...)
	cmd.Stdin = strings.NewReader("end\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return launch{}, fmt.Errorf("archive: %w: %s", err, out)
	}
	return launch{flags: []string{"-XX:SharedArchiveFile=" + file, "-Xshare:on"}, class: class}, nil
}

// jar packs the program: archives take no classes from folders.
func (m *matrix) jar(j jdk.JDK, dir string) (string, error) {
	file := filepath.Join(dir, "faults.jar")
	out, err := exec.Command(filepath.Join(j.Home, "bin", "jar"), "cf", file, "-C", m.dir, "f").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("jar: %w: %s", err, out)
	}
	return file, nil
}

// modular has the program in a module of its own.
func modular(m *matrix, j jdk.JDK, dir string) (launch, error) {
	src := filepath.Join(dir, "module-info.java")
	if err := os.WriteFile(src, []byte("module faults { }\n"), 0o600); err != nil {
		return launch{}, err
	}
	out, err := exec.Command(j.Javac(), "--release", "11", "-d", dir, "--patch-module", "faults="+m.dir, src).CombinedOutput()
	if err != nil {
		return launch{}, fmt.Errorf("javac: %w: %s", err, out)
	}
	if err := os.CopyFS(filepath.Join(dir, "f"), os.DirFS(filepath.Join(m.dir, "f"))); err != nil {
		return launch{}, err
	}
	return launch{class: []string{"--module-path", dir, "-m", "faults/f.Faults"}}, nil
}

// linked has a run-time of these modules alone.
func linked(modules string) func(*matrix, jdk.JDK, string) (launch, error) {
	return func(_ *matrix, j jdk.JDK, dir string) (launch, error) {
		tool := filepath.Join(j.Home, "bin", "jlink")
		if _, err := os.Stat(filepath.Join(j.Home, "jmods")); err != nil {
			return launch{}, fmt.Errorf("%w: no jmods", errAbsent)
		}
		home := filepath.Join(dir, "home")
		out, err := exec.Command(tool, "--add-modules", modules, "--output", home).CombinedOutput()
		if err != nil {
			return launch{}, fmt.Errorf("jlink: %w: %s", err, out)
		}
		java := filepath.Join(home, "bin", "java")
		if out, err := exec.Command(java, "-version").CombinedOutput(); err != nil { // a JDK that brings its own libc along
			return launch{}, fmt.Errorf("%w: %w: %s", errAbsent, err, out)
		}
		return launch{java: java}, nil
	}
}

// errAbsent is wrapped where a JDK has no such thing.
var errAbsent = errors.New("not there")
