// Rivulet profiles a call subgraph of a running JVM: exact call counts and
// times for everything that one method calls. See README.md.
package main

import (
	"os"

	"github.com/rivulet-profiler/rivulet/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
