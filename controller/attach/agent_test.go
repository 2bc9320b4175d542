package attach

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLoadAgent decodes every result of loading.
func TestLoadAgent(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm, ctx := open(t, tg.pid), deadline(t, jvmtest.Patience)
		dir := classes(t)
		warn, err := vm.DynamicAgentWarning(ctx)
		if err != nil || warn != (j.Version >= 21) {
			t.Errorf("warning foretold: %v, %v", warn, err)
		}
		if err := vm.LoadAgent(ctx, dir+"/agent.jar", "hello=1"); err != nil {
			t.Error(err)
		}
		tg.WaitLine("agent:hello=1")
		if s := tg.err(); strings.Contains(s, "WARNING") != warn {
			t.Errorf("warning was foretold as %v, got %q", warn, s)
		}
		for _, c := range []struct {
			jar, options string
			code         int
		}{
			{dir + "/missing.jar", "", agentBadJar},
			{dir + "/noagent.jar", "x", agentBadJar},
			{dir + "/agent.jar", "boom", AgentStartError},
			{"relative.jar", "", 0},
			{"/tmp/a=b.jar", "", 0},
		} {
			err := vm.LoadAgent(ctx, c.jar, c.options)
			wantErr(t, err, ErrRejected, tg.pid)
			var e *Error
			if errors.As(err, &e); e.Code != c.code {
				t.Errorf("%s: code %d, want %d", c.jar, e.Code, c.code)
			}
		}
		// The listener is busy with agentmain; waiting for it ends in time.
		slow := make(chan error)
		go func() { slow <- vm.LoadAgent(ctx, dir+"/agent.jar", "slow") }()
		tg.WaitLine("agent begins")
		_, err = vm.Execute(deadline(t, 300*time.Millisecond), "properties")
		wantErr(t, err, ErrNoAnswer, tg.pid)
		if err := os.WriteFile(filepath.Join(tg.dir, "go on"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-slow; err != nil {
			t.Error(err)
		}
		tg.unharmed()
	})
}

// TestAgentsDisabled: commands work, agents don't, from any origin of the flag.
func TestAgentsDisabled(t *testing.T) {
	eachJDK(t, 11, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-XX:-EnableDynamicAgentLoading")
		p, err := Inspect(tg.pid)
		if err != nil || p.Attachable {
			t.Errorf("Inspect: %+v, %v", p, err)
		}
		wantErr(t, p.Err, ErrAgentsDisabled, tg.pid)
		vm, ctx := open(t, tg.pid), deadline(t, jvmtest.Patience)
		_, err = vm.DynamicAgentWarning(ctx)
		wantErr(t, err, ErrAgentsDisabled, tg.pid)
		wantErr(t, vm.LoadAgent(ctx, classes(t)+"/agent.jar", ""), ErrAgentsDisabled, tg.pid)
		r, err := vm.Execute(ctx, "load", "instrument", "false", classes(t)+"/agent.jar")
		if err != nil {
			t.Fatal(err)
		}
		wantErr(t, vm.agentError("x.jar", r), ErrAgentsDisabled, tg.pid)
		tg.unharmed()
	})
}

// TestWarningOrigin: only the command line silences the warning of JDK 21.
func TestWarningOrigin(t *testing.T) {
	eachJDK(t, 21, func(t *testing.T, j jvmtest.JDK) {
		for _, c := range []struct {
			env, option string
			warn        bool
		}{
			{"JAVA_TOOL_OPTIONS=-XX:+EnableDynamicAgentLoading", "-Xmx64m", true},
			{"JDK_JAVA_OPTIONS=-XX:+EnableDynamicAgentLoading", "-Xmx64m", false},
			{"A=b", "-XX:+EnableDynamicAgentLoading", false},
		} {
			cmd := java(t, j, c.option)
			cmd.Env = append(os.Environ(), c.env)
			tg := launch(t, cmd)
			tg.WaitLine("up")
			vm, ctx := open(t, tg.pid), deadline(t, jvmtest.Patience)
			warn, err := vm.DynamicAgentWarning(ctx)
			if err != nil || warn != c.warn {
				t.Errorf("%v: foretold %v, %v", c, warn, err)
			}
			if err := vm.LoadAgent(ctx, classes(t)+"/agent.jar", ""); err != nil {
				t.Error(err)
			}
			if c.warn {
				tg.WaitError("WARNING: A Java agent")
			} else if s := tg.err(); strings.Contains(s, "WARNING: A Java agent") {
				t.Errorf("%v: printed %q", c, s)
			}
		}
	})
}

// TestNativeAccess: where the main class is in a module, JDK 24 and later also warn that java.instrument loads its library.
func TestNativeAccess(t *testing.T) {
	j := jvmtest.Need(t, 25)
	dir := jvmtest.Compile(t, j, 17, map[string]string{
		"module-info.java": "module named { }",
		"m/Main.java":      `package m; public class Main { public static void main(String[] a) throws Exception { System.out.println("up"); System.in.read(); } }`,
	})
	for _, c := range []struct {
		args []string
		warn bool
	}{
		{[]string{"--module-path", dir, "-m", "named/m.Main"}, true},
		{[]string{"--add-modules", "java.instrument", "--module-path", dir, "-m", "named/m.Main"}, false},
		{[]string{"-cp", dir, "m.Main"}, false},
	} {
		tg := launch(t, exec.Command(j.Java(), append([]string{"-Xmx64m"}, c.args...)...))
		tg.WaitLine("up")
		p, err := Inspect(tg.pid)
		if err != nil || p.NativeAccessWarning() != c.warn {
			t.Errorf("%v: foretold %v, %v", c.args, p.NativeAccessWarning(), err)
		}
		vm, ctx := open(t, tg.pid), deadline(t, jvmtest.Patience)
		if err := vm.LoadAgent(ctx, classes(t)+"/agent.jar", ""); err != nil {
			t.Error(err)
		}
		if c.warn {
			tg.WaitError("WARNING: java.lang.System::loadLibrary")
		} else if s := tg.err(); strings.Contains(s, "java.lang.System::loadLibrary") {
			t.Errorf("%v: printed %q", c.args, s)
		}
	}
}
