package jvmside_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestClasses wants classes that JDK 8 loads, and none of the stubs.
func TestClasses(t *testing.T) {
	classes, err := jvmside.Classes()
	if err != nil {
		t.Fatal(err)
	}
	if classes["rivulet/boot/Boot1"] == nil {
		t.Error("no class rivulet/boot/Boot1, which the manifest names")
	}
	for name, b := range classes {
		if strings.HasPrefix(name, "rivulet/probe/stub/") {
			t.Errorf("%s is in the jar", name)
		}
		if len(b) < 8 || binary.BigEndian.Uint32(b) != 0xCAFEBABE || binary.BigEndian.Uint16(b[6:]) != 52 {
			t.Errorf("%s is no class file of version 52", name)
		}
	}
	delete(classes, "rivulet/boot/Boot1")
	if again, _ := jvmside.Classes(); again["rivulet/boot/Boot1"] == nil {
		t.Error("a caller's change reached the next one")
	}
}

// TestNoSleep: no class of the agent's calls Thread.sleep. From JDK 21 on that initializes a class of the JDK, which is
// broken for good if there is no memory at that moment; then no thread can sleep any more, whoever was the first.
func TestNoSleep(t *testing.T) {
	classes, err := jvmside.Classes()
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("\x01\x00\x05sleep") // CONSTANT_Utf8 (JVMS §4.4.7)
	for class, b := range classes {
		if bytes.Contains(b, name) {
			t.Errorf("%s names a method sleep; Pause and Suspension wait without", class)
		}
	}
}

func demo(t *testing.T, j jvmtest.JDK, args ...string) *jvmtest.Proc {
	t.Helper()
	jar := filepath.Join(t.TempDir(), "demo.jar")
	if err := os.WriteFile(jar, jvmside.DemoJar(), 0o644); err != nil {
		t.Fatal(err)
	}
	return jvmtest.Start(t, j, []string{"-verbose:class"}, "shop.Main", args, jar)
}

// TestDemoRepeats wants the same orders and receipts in every run on every
// JDK, whatever its threads do meanwhile: tests count its calls.
func TestDemoRepeats(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := demo(t, j, "--threads", "3", "--orders", "2000")
		line := p.WaitLine("done")
		if want := "done 6000 orders, 638 refused, 168678 pieces in stock, checksum c36f788ef8c83073"; line != want {
			t.Errorf("%q, want %q", line, want)
		}
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestDemoLife has it run as for a person: it says who it is, reports its
// speed, loads a class late and ends with its standard input.
func TestDemoLife(t *testing.T) {
	p := demo(t, jvmtest.Any(t), "--threads", "1", "--late", "2")
	p.WaitLine("PID ")
	if line := p.WaitLine("ROOT "); line != "ROOT "+jvmside.DemoRoot {
		t.Errorf("%q", line)
	}
	p.WaitLine("speed ")
	loaded := func() bool {
		return slices.ContainsFunc(p.Stdout(), func(line string) bool { return strings.Contains(line, "shop.pricing.FlashSale") })
	}
	if loaded() {
		t.Error("the late class is loaded at once")
	}
	p.WaitLine("speed ")
	p.WaitLine("speed ")
	if !loaded() {
		t.Error("the late class is not loaded")
	}
	p.CloseStdin()
	p.WaitLine("done ")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestNoDataStreams keeps the agent from java.io's data streams. On JDK 21 and later their first use initializes
// jdk.internal.util.ByteArray. Where the heap is full just then, that class stays unusable for the program.
func TestNoDataStreams(t *testing.T) {
	classes, err := jvmside.Classes()
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range classes {
		for _, never := range []string{"java/io/DataInputStream", "java/io/DataOutputStream"} {
			if bytes.Contains(file, []byte(never)) {
				t.Errorf("%s uses %s", name, never)
			}
		}
	}
}
