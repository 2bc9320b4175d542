// Package jvmside carries what runs inside a JVM: the agent's jar, that of an
// agent for JVMs to be started with, and the demo's. They are built from
// jvmside/src, jvmside/prepared and jvmside/demo by "go tool task
// agent", reproducibly, and committed, so that "go install" needs no Java.
//
// Everything here is read-only and safe for concurrent use; callers must not
// change the bytes that they get.
//
// An error says that an embedded jar is damaged: the build is to blame.
package jvmside

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the jars
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
)

//go:embed agent.jar
var agentJar []byte

//go:embed prepared.jar
var preparedJar []byte

//go:embed demo.jar
var demoJar []byte

// DemoRoot is the method of the demo target that is called for each order: a
// root that is busy from the start.
const DemoRoot = "shop.orders.OrderService.process"

// Jar returns the agent's jar.
func Jar() []byte { return agentJar }

// PreparedJar returns the jar of an agent that does nothing, for JVMs to be started with:
// the first redefinition of a class does not throw away all compiled code then.
func PreparedJar() []byte { return preparedJar }

// DemoJar returns the jar of the demo target, started by java -jar.
func DemoJar() []byte { return demoJar }

// Classes returns the class files of the agent's jar by internal name
// ("rivulet/boot/Boot1", JVMS §4.2.1). The map is the caller's.
func Classes() (map[string][]byte, error) {
	classes, err := agentClasses()
	return maps.Clone(classes), err
}

var agentClasses = sync.OnceValues(func() (map[string][]byte, error) { return classFiles(agentJar) })

func classFiles(jar []byte) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return nil, fmt.Errorf("agent.jar: %w", err)
	}
	classes := map[string][]byte{}
	for _, f := range r.File {
		name, ok := strings.CutSuffix(f.Name, ".class")
		if !ok {
			continue
		}
		if classes[name], err = read(f); err != nil {
			return nil, fmt.Errorf("agent.jar: %s: %w", f.Name, err)
		}
	}
	return classes, nil
}

func read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
