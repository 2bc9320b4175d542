package doctor_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestGather looks for secrets of a program, wherever it has them, in what is gathered for a bug report.
func TestGather(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Doctor.java": doctorProgram})
	cmd := exec.Command(j.Java(), "-Xmx64m", "-Ddb.password=hunter2-a", "-Dapp.license=hunter2-b", "-Dapp.words=two hunter2-c", "-Djdk.tls.keyPassword=hunter2-d",
		"-XX:OnError=mail hunter2-e", "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0,hunter2=n", "-Djava.awt.headless=true",
		"-cp", dir, "t.Doctor", "--token", "hunter2-f", "hunter2-g")
	cmd.Args[7] = strings.TrimSuffix(cmd.Args[7], ",hunter2=n") // jdwp would refuse it
	cmd.Env = append(os.Environ(), "DB_PASS=hunter2-h", "JAVA_TOOL_OPTIONS=-Dfrom.env=hunter2-i")
	p := jvmtest.StartCmd(t, cmd)
	p.WaitLine("READY")
	ctx, cancel := context.WithTimeout(t.Context(), jvmtest.Patience)
	defer cancel()
	e := doctor.Gather(ctx, p.PID(), "t.Doctor.over", session.Config{})
	files := map[string]string{}
	for _, f := range e.Files {
		files[f.Name] = f.Text
		if strings.Contains(f.Text, "hunter2") {
			t.Errorf("%s has a secret:\n%s", f.Name, f.Text)
		}
	}
	checks, err := json.Marshal(e.Checks)
	if err != nil || strings.Contains(string(checks), "hunter2") || strings.Contains(string(checks), "dt_socket") {
		t.Errorf("the checks have a secret: %s, %v", checks, err)
	}
	for name, want := range map[string][]string{
		"target.json":  {`"main": "t.Doctor"`, `"args": "***"`, `-Ddb.password=***`, `-Dapp.license=***`, `-Dapp.words=***`, `-Djdk.tls.keyPassword=***`, `-XX:OnError=***`, `-agentlib:jdwp=***`, `-Djava.awt.headless=true`},
		"status.txt":   {"Threads:", "Max open files", "/tmp: type 0x", "/dev/shm: type 0x1021994"},
		"flags.txt":    {"MaxHeapSize = 67108864", "OnError = ***"},
		"counters.txt": {"sun.os.hrt.frequency = ", "java.property.java.vm.version"},
		"machine.txt":  {"kernel: ", "cores: ", "MemTotal"},
		"header.txt":   {"H_VERSION ", "H_HEARTBEAT "},
	} {
		for _, w := range want {
			if !strings.Contains(files[name], w) {
				t.Errorf("%s has no %q:\n%s", name, w, files[name])
			}
		}
	}
	sessiontest.Gone(t, p.PID(), 5*time.Second)
}

func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"agents (-javaagent:/a/b.jar=key:v, -agentlib:jdwp=x), others": "agents (-javaagent:/a/b.jar=***, -agentlib:jdwp=***), others",
		"-Dx.y=z -Djava.io.tmpdir=/t -Djdk.passwd=q -Xmx1g":            "-Dx.y=*** -Djava.io.tmpdir=/t -Djdk.passwd=*** -Xmx1g",
		"nothing": "nothing",
	} {
		if got := doctor.WithoutSecrets(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
