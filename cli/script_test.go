package cli_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rivulet-profiler/rivulet/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rivulet":   func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"forbidden": func() { os.Exit(forbidden()) },
		"exits": func() { // exits N COMMAND...: COMMAND exits with N
			var want int
			if _, err := fmt.Sscan(os.Args[1], &want); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			got := cli.Main(os.Args[3:], os.Stdin, os.Stdout, os.Stderr)
			if got != want {
				fmt.Fprintf(os.Stderr, "exit code %d, want %d\n", got, want)
				os.Exit(1)
			}
		},
	})
}

// TestScripts runs testdata/*.txtar, which need no JVM. PID is a Go process.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PID", fmt.Sprint(os.Getpid()))
			return nil
		},
	})
}
