// Command gen writes what follows from the tables of package wire: Layout.java
// for the probe, Wire.java for the agent, and docs/formats.md. Run from the repository's root by
// "go tool task generate".
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

func main() {
	log.SetFlags(0)
	src := filepath.Join("jvmside", "src", "rivulet")
	write(filepath.Join(src, "probe", "Layout.java"), layout())
	write(filepath.Join(src, "agent", "Wire.java"), messages())
	write(filepath.Join("docs", "formats.md"), page())
}

func write(name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

const head = "// Generated from jvmside/wire by \"go tool task generate\". Do not edit.\n"

// layout yields Layout.java. Its constants are inlined by javac (JLS 15.29),
// so the class itself is not needed at run time.
func layout() string {
	var b strings.Builder
	b.WriteString(head + "package rivulet.probe;\n\n/** The data file's layout: package wire, table Layout. */\npublic final class Layout {\n    private Layout() {}\n\n")
	constants(&b, wire.Layout)
	constants(&b, wire.Timers)
	constants(&b, wire.RootTimes)
	constants(&b, wire.Events)
	constants(&b, wire.Survivors)
	b.WriteString("}\n")
	return b.String()
}

func messages() string {
	var b strings.Builder
	b.WriteString(head + "package rivulet.agent;\n\n/** Numbers of messages: package wire, tables Messages and Codes. */\nfinal class Wire {\n    private Wire() {}\n\n")
	for _, m := range wire.Messages {
		fmt.Fprintf(&b, "    /** %s. */\n    static final int %s = %d;\n", m.Doc, m.Name, m.Type)
	}
	for _, c := range wire.Codes {
		fmt.Fprintf(&b, "    /** %s. */\n    static final int %s = %d;\n", c.Doc, c.Name, c.Value)
	}
	b.WriteString("}\n")
	return b.String()
}

// constants writes a row each: int where the number is a word's place inside
// something or a small number, long for places and masks that addresses are
// made of, so that no address arithmetic is done in int.
func constants(b *strings.Builder, rows []wire.Const) {
	for _, c := range rows {
		typ, suffix := "int", ""
		if long(c) {
			typ, suffix = "long", "L"
		}
		fmt.Fprintf(b, "    /** %s. */\n    public static final %s %s = %d%s;\n", c.Doc, typ, c.Name, c.Value, suffix)
	}
}

func long(c wire.Const) bool {
	switch c.Name {
	case "MAGIC", "SLOTS", "SLOT_MASK", "MODES", "RECORDS", "BOXES", "NODES",
		"PRECISE", "TOP", "BACK", "OWN", "OVER", "EVENT", "INDEX_MASK":
		return true
	}
	return false
}
