package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stream = `task: [test] go test
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2.5}
{"Action":"run","Package":"p","Test":"TestB/jdk8"}
{"Action":"output","Package":"p","Test":"TestB/jdk8","Output":"=== RUN   TestB/jdk8\n"}
{"Action":"output","Package":"p","Test":"TestB/jdk8","Output":"    x_test.go:5: JDK 8 not installed\n"}
{"Action":"output","Package":"p","Test":"TestB/jdk8","Output":"    --- SKIP: TestB/jdk8 (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB/jdk8","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p","Elapsed":0.1}
`

const failure = `{"Action":"output","Package":"q","Test":"TestC","Output":"    x_test.go:7: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC","Elapsed":0}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.1s\n"}
{"Action":"fail","Package":"q","Elapsed":0.1}
`

const broken = `{"ImportPath":"q","Action":"build-output","Output":"q.go:1: undefined: x\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q","Elapsed":0,"FailedBuild":"q"}
`

func TestReport(t *testing.T) {
	list := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(list, []byte("# comment\n\nmissing-jdks TestB/* JDK * not installed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in, condition string
		ok                  bool
		want                string
	}{
		{"allowed", stream, "missing-jdks", true, "task: [test] go test\n--- SKIP: p TestB/jdk8 (JDK 8 not installed)\nok  \tp\t0.1s\n   2.5 s  p TestA\n1 passed, 0 failed, 1 skipped\n"},
		{"condition does not hold", stream, "", false, "not on the list of allowed skips: p TestB/jdk8: JDK 8 not installed\n"},
		{"failed", stream + failure, "missing-jdks", false, "x_test.go:7: wrong\nFAIL\tq\t0.1s\n   2.5 s  p TestA\nfailed: q TestC\n1 passed, 1 failed, 1 skipped\n"},
		{"does not build", stream + broken, "missing-jdks", false, "q.go:1: undefined: x\nFAIL\tq [build failed]\n"},
		{"nothing", "", "", false, "no test ran\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, err := readList(list, []string{c.condition})
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r := report{out: &out, allowed: rules, output: map[test][]string{}, took: map[test]*timed{}}
			if err := r.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			if ok := r.finish(); ok != c.ok || !strings.Contains(out.String(), c.want) {
				t.Errorf("ok = %v, want %v; printed\n%swant\n%s", ok, c.ok, out.String(), c.want)
			}
		})
	}
}

func TestListErrors(t *testing.T) {
	list := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(list, []byte("always TestX\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readList(list, nil); err == nil || !strings.Contains(err.Error(), "allowed:1: want") {
		t.Errorf("short line: %v", err)
	}
	if _, err := readList(list+"x", nil); err == nil {
		t.Error("no error for a list that is not there")
	}
}
