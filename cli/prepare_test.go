package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside"
)

func TestPrepare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ready.jar")
	r := newFake().run(t, "prepare", "--jar", file)
	r.want(t, 0, "-javaagent:"+file, "JAVA_TOOL_OPTIONS")
	if b, err := os.ReadFile(file); err != nil || !bytes.Equal(b, jvmside.PreparedJar()) {
		t.Error(err)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"prepare"}, 2, "give the PID of a running JVM, or --jar FILE"},
		{[]string{"prepare", "1", "--jar", "x.jar"}, 2, "not both"},
		{[]string{"prepare", "shop"}, 2, "is not a process id"},
		{[]string{"prepare", "--jar", "a b.jar"}, 2, "without blanks"},
		{[]string{"prepare", "--jar", filepath.Join(file, "x.jar")}, 1, "not a directory"},
	} {
		newFake().run(t, test.args...).want(t, test.code, "", test.want)
	}
	f := newFake()
	f.run(t, "prepare", "4711").want(t, 0, "", "is prepared")
	if got := f.steps(); !strings.Contains(got, "attach prepare") {
		t.Error("steps:", got)
	}
	f = &fake{startErr: errors.New("no such luck")}
	f.run(t, "prepare", "4711").want(t, 1, "", "no such luck")
}
