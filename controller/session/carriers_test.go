package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestCarriers lets more virtual threads than there are carriers reveal methods
// at the same time. Those that wait keep their carriers; none that holds
// something of the agent's may lose its own.
func TestCarriers(t *testing.T) {
	t.Parallel()
	const classes, share, threads = 96, 8, 24
	b, err := os.ReadFile(filepath.Join("testdata", "Carriers.java"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"t/Carriers.java": string(b)}
	var table strings.Builder
	for i := range classes { // each class that is far is called from several that are near
		fmt.Fprintf(&table, "            case %d: return Near%d.call();\n", i, i)
		files[fmt.Sprintf("t/Near%d.java", i)] = fmt.Sprintf("package t; class Near%d { static int call() { return Far%d.call%d(); } }", i, i/share, i%share)
	}
	for i := range classes / share {
		var calls strings.Builder
		for k := range share {
			fmt.Fprintf(&calls, "static int call%d() { return %d; }\n", k, k)
		}
		files[fmt.Sprintf("t/Far%d.java", i)] = fmt.Sprintf("package t; class Far%d {\n%s}\n", i, calls.String())
	}
	files["t/Table.java"] = fmt.Sprintf(`package t;

class Table {
    static final int CLASSES = %d, FAR = %d;

    static int call(int i) {
        switch (i) {
%s            default: throw new IllegalArgumentException();
        }
    }
}
`, classes, classes/share, table.String())
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, files)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := jvmtest.Start(t, j, []string{"-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2"}, "t.Carriers", nil, dir)
		p.WaitLine("READY")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Carriers.root"}})
		p.Send("go")
		p.WaitLine("OK")
		r := stopped(t, s)
		exact(t, r)
		calls := map[string]int64{}
		for _, f := range cct.FlatOf(r.Tree.Roots()) {
			name, _, _ := strings.Cut(r.Method(f.Method).Name, "(")
			class, _, _ := strings.Cut(strings.TrimPrefix(name, "t."), ".")
			calls[strings.TrimRight(class, "0123456789")] += f.Calls
		}
		same(t, calls, map[string]int64{"Carriers": threads, "Table": threads * classes, "Near": threads * classes, "Far": threads * classes})
	}, 21, 25)
}
