package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// companions are the other tools, from Maven Central or from the JDK.
var companions = []companion{
	{
		name: "async-profiler", does: "async-profiler 4.1, sampling CPU time",
		enter: profilerStarts("itimer"), leave: profilerStops, works: profilerWrote,
	},
	{
		name: "async-profiler-method", does: "async-profiler 4.1, instrumenting the root method",
		enter: profilerStarts("f.Faults.request"), leave: profilerStops, works: profilerSaw,
	},
	{
		name: "jfr", does: "Flight Recorder, `profile` settings", from: 11,
		enter: recorderStarts(), leave: recorderStops, works: recorderWrote,
	},
	{
		name: "jfr-methods", does: "Flight Recorder, tracing the root method", from: 25,
		enter: recorderStarts("method-trace=f.Faults::request"), leave: recorderStops, works: recorderTraced,
	},
	{
		name: "byteman", does: "Byteman 4.0.26, a rule at the root method's entry and one in a method below it",
		enter: bytemanEnters, leave: bytemanLeaves, works: bytemanCounted, says: "byteman",
	},
	{
		name: "debugger", does: "a debugger (jdb) that looks at all stacks and suspends all threads for a moment",
		flags: debuggable, enter: debuggerEnters, leave: debuggerLeaves, works: debuggerSaw,
	},
	{
		name: "mockito", does: "Mockito 5.20, its inline maker: mocks of a class below the root, from the start, and new ones all the time", from: 11,
		flags: mocking, works: mocked,
	},
	{
		name: "jacoco", does: "JaCoCo 0.8.13, from the start",
		flags: func(g *guest) ([]string, error) {
			jar, err := artifact("org.jacoco:org.jacoco.agent:0.8.13:jar:runtime")
			g.state["file"] = filepath.Join(g.dir, "jacoco.exec")
			os.Remove(g.state["file"])
			return []string{"-javaagent:" + jar + "=destfile=" + g.state["file"]}, err
		},
		works: func(g *guest) error { return mentions(g.state["file"], "f/Faults") },
	},
	{
		name: "opentelemetry", does: "OpenTelemetry 2.21 with a span for each call of a method below the root, from the start",
		flags: func(*guest) ([]string, error) {
			jar, err := artifact("io.opentelemetry.javaagent:opentelemetry-javaagent:2.21.0")
			return []string{
				"-Xmx256m", "-javaagent:" + jar, "-Dotel.traces.exporter=logging", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none",
				"-Dotel.instrumentation.methods.include=f.Faults[half]",
			}, err
		},
		works: func(g *guest) error {
			if !strings.Contains(g.t.Err.All(), "'Faults.half'") {
				return errors.New("no span was logged")
			}
			return nil
		},
		says: `otel|sun\.misc\.Unsafe`,
	},
}

// artifact is a file from Maven Central, in the cache.
func artifact(what string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "rivulet-bench", "company")
	part := strings.Split(what, ":")
	name := part[1] + "-" + part[2]
	if len(part) > 4 {
		name += "-" + part[4]
	}
	file := filepath.Join(dir, name+".jar")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", errors.New("maven is not installed: it fetches the other tools (as root: apt-get install maven)")
	}
	if out, err := exec.Command(mvn, "-q", "-B", "dependency:copy", "-Dartifact="+what, "-DoutputDirectory="+dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", what, err, out)
	}
	_, err = os.Stat(file)
	return file, err
}

// mentions returns an error if a file does not have some bytes in it.
func mentions(file, text string) error {
	b, err := os.ReadFile(file)
	if err == nil && !bytes.Contains(b, []byte(text)) {
		err = fmt.Errorf("%s does not name %s", filepath.Base(file), text)
	}
	return err
}

// ---- async-profiler ----

// library is async-profiler's, in the round's folder.
func library(g *guest) (string, error) {
	file := filepath.Join(g.dir, "libasyncProfiler.so")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	jar, err := artifact("tools.profiler:async-profiler:4.1")
	if err != nil {
		return "", err
	}
	z, err := zip.OpenReader(jar)
	if err != nil {
		return "", err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "linux-x64/libasyncProfiler.so") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return "", err
		}
		defer in.Close()
		b, err := io.ReadAll(in)
		if err != nil {
			return "", err
		}
		return file, os.WriteFile(file, b, 0o600)
	}
	return "", fmt.Errorf("%w: no library for this machine", errAbsent)
}

// profiler has async-profiler do something.
func profiler(g *guest, options string) error {
	lib, err := library(g)
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(context.Background(), *patient)
	defer end()
	vm, err := attach.Open(ctx, g.t.pid)
	if err != nil {
		return err
	}
	reply, err := vm.Execute(ctx, "load", lib, "true", options)
	if err == nil && (reply.Code != 0 || strings.Contains(reply.Text, "rror")) {
		err = fmt.Errorf("%s: code %d: %s", options, reply.Code, reply.Text)
	}
	return err
}

func profilerStarts(event string) func(*guest) error {
	return func(g *guest) error {
		g.state["file"] = filepath.Join(g.dir, "samples")
		os.Remove(g.state["file"])
		return profiler(g, "start,event="+event)
	}
}

func profilerStops(g *guest) error { return profiler(g, "stop,collapsed,file="+g.state["file"]) }

// profilerWrote looks for its file alone: in some milliseconds of work it may have taken no sample.
func profilerWrote(g *guest) error {
	_, err := os.Stat(g.state["file"])
	return err
}

// profilerSaw looks for the method that it instruments.
func profilerSaw(g *guest) error { return mentions(g.state["file"], "f/Faults.request") }

// ---- Flight Recorder ----

func recorderStarts(more ...string) func(*guest) error {
	return func(g *guest) error {
		g.state["file"] = filepath.Join(g.dir, "company.jfr")
		os.Remove(g.state["file"])
		_, err := jcmd(g.jdk, g.t.pid, append([]string{"JFR.start", "name=company", "settings=profile"}, more...)...)
		return err
	}
}

func recorderStops(g *guest) error {
	_, err := jcmd(g.jdk, g.t.pid, "JFR.stop", "name=company", "filename="+g.state["file"])
	return err
}

// recorderWrote looks for the description of an event: there may be no sample.
func recorderWrote(g *guest) error { return mentions(g.state["file"], "jdk.ExecutionSample") }

// recorderTraced counts the traced calls.
func recorderTraced(g *guest) error {
	out, err := exec.Command(filepath.Join(g.jdk.Home, "bin", "jfr"), "summary", g.state["file"]).CombinedOutput()
	if err != nil {
		return fmt.Errorf("jfr: %w: %s", err, out)
	}
	m := regexp.MustCompile(`jdk\.MethodTrace\s+(\d+)`).FindSubmatch(out)
	if m == nil || string(m[1]) != fmt.Sprint(g.calls) {
		return fmt.Errorf("%d root calls, and it has traced %s", g.calls, m)
	}
	return nil
}

// ---- Byteman ----

const rules = `RULE root
CLASS f.Faults
METHOD request
AT ENTRY
IF TRUE
DO traceOpen("company", "%[1]s"), traceln("company", "root")
ENDRULE
RULE below
CLASS f.Faults
METHOD half
AT EXIT
IF TRUE
DO traceln("company", "below")
ENDRULE
`

// bytemanRuns runs one of Byteman's tools.
func bytemanRuns(g *guest, tool string, args ...string) error {
	class := map[string]string{"install": "org.jboss.byteman.agent.install.Install", "submit": "org.jboss.byteman.agent.submit.Submit"}[tool]
	path := []string{filepath.Join(g.jdk.Home, "lib", "tools.jar")}
	for _, a := range []string{"byteman", "byteman-install", "byteman-submit"} {
		jar, err := artifact("org.jboss.byteman:" + a + ":4.0.26")
		if err != nil {
			return err
		}
		path = append(path, jar)
	}
	out, err := exec.Command(g.jdk.Java(), append([]string{"-cp", strings.Join(path, ":"), class}, args...)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "xception") {
		return fmt.Errorf("byteman %s: %w: %s", tool, err, out) //nolint:errorlint // nil says most
	}
	return nil
}

func bytemanEnters(g *guest) error {
	port := fmt.Sprint(20000 + g.t.pid%20000)
	g.state["port"], g.state["file"], g.state["rules"] = port, filepath.Join(g.dir, "byteman.out"), filepath.Join(g.dir, "company.btm")
	os.Remove(g.state["file"])
	if err := os.WriteFile(g.state["rules"], fmt.Appendf(nil, rules, g.state["file"]), 0o600); err != nil {
		return err
	}
	if err := bytemanRuns(g, "install", "-p", port, fmt.Sprint(g.t.pid)); err != nil {
		return err
	}
	return bytemanRuns(g, "submit", "-p", port, "-l", g.state["rules"])
}

func bytemanLeaves(g *guest) error {
	return bytemanRuns(g, "submit", "-p", g.state["port"], "-u", g.state["rules"])
}

// bytemanCounted: each call of both methods has left a line.
func bytemanCounted(g *guest) error {
	b, err := os.ReadFile(g.state["file"])
	if err != nil {
		return err
	}
	if roots, below := strings.Count(string(b), "root\n"), strings.Count(string(b), "below\n"); roots != g.calls || below != g.calls {
		return fmt.Errorf("%d root calls, and its rules have run %d and %d times", g.calls, roots, below)
	}
	return nil
}

// ---- Mockito ----

// mocking has an agent of ours that calls Mockito, which is an agent, too.
func mocking(g *guest) ([]string, error) {
	var jars []string
	for _, a := range []string{"org.mockito:mockito-core:5.20.0", "net.bytebuddy:byte-buddy:1.17.7", "net.bytebuddy:byte-buddy-agent:1.17.7", "org.objenesis:objenesis:3.3"} {
		jar, err := artifact(a)
		if err != nil {
			return nil, err
		}
		jars = append(jars, jar)
	}
	manifest := "Premain-Class: f.Mocks\nClass-Path:"
	for _, jar := range jars {
		manifest += " \n  file:" + jar // a line that begins with a space continues the one before
	}
	jar, err := agentJar(g.jdk, g.dir, "mocks", manifest+"\n", "f/Mocks.class")
	g.state["file"] = filepath.Join(g.dir, "mocks.out")
	os.Remove(g.state["file"])
	return []string{"-javaagent:" + jars[0], "-javaagent:" + jar + "=" + g.state["file"]}, err
}

// mocked: mocks and real objects have answered right all the time.
func mocked(g *guest) error {
	b, err := os.ReadFile(g.state["file"])
	if err == nil && !strings.HasPrefix(string(b), "right ") {
		err = fmt.Errorf("its agent says %q", b)
	}
	return err
}

// ---- a debugger ----

func debuggable(g *guest) ([]string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g.state["address"] = l.Addr().String()
	return []string{"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=" + g.state["address"]}, l.Close()
}

func debuggerEnters(g *guest) error {
	_, port, err := net.SplitHostPort(g.state["address"])
	if err != nil {
		return err
	}
	jdb, err := proc.Start(exec.Command(filepath.Join(g.jdk.Home, "bin", "jdb"), "-connect", "com.sun.jdi.SocketAttach:hostname=127.0.0.1,port="+port))
	if err != nil {
		return err
	}
	g.after = append(g.after, jdb.Kill)
	g.debugger = jdb
	if _, err := jdb.Contains("Initializing jdb"); err != nil {
		return err
	}
	return errors.Join(jdb.Send("suspend"), jdb.Send("where all"), jdb.Send("resume"))
}

func debuggerLeaves(g *guest) error {
	if err := errors.Join(g.debugger.Send("suspend"), g.debugger.Send("where all"), g.debugger.Send("resume"), g.debugger.Send("quit")); err != nil {
		return err
	}
	return g.debugger.Wait()
}

func debuggerSaw(g *guest) error {
	if out := g.debugger.Out.All(); !strings.Contains(out, "f.Faults.main") {
		return fmt.Errorf("it has not seen the program: %s", out)
	}
	return nil
}
