package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// page yields docs/formats.md.
func page() string {
	var b strings.Builder
	b.WriteString(`<!-- Generated from jvmside/wire by "go tool task generate". Do not edit. -->

# Formats between controller and agent

The controller (Go) and the agent (Java) of a session share a room: a folder
of mode 0700 below the target's /tmp with two FIFOs, and one data file on a
tmpfs. Every name is removed once both sides have opened it. All numbers here
come from the tables in package jvmside/wire, from which the Java constants are
generated too. JSON reports have [their own page](formats-report.md).

`)
	fmt.Fprintf(&b, "Version %d. Both sides run on one machine: words of the data file are in its byte order, messages are big-endian.\n", wire.Version)
	b.WriteString(`
## The data file

Allocated by the controller (fallocate) before the target may touch it, never
truncated. Up to 2 GB.

`)
	b.WriteString("```text\n")
	areas(&b)
	b.WriteString("```\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", s.title, s.text)
		b.WriteString("| name | value | meaning |\n|---|---:|---|\n")
		for _, c := range slices.Concat(wire.Layout, wire.Timers, wire.RootTimes, wire.Events, wire.Survivors) {
			if s.has(c.Name) {
				fmt.Fprintf(&b, "| %s | %d | %s |\n", c.Name, c.Value, c.Doc)
			}
		}
	}
	b.WriteString(`
A token is what an instrumented method keeps while it runs:

` + "```text\n" + ` 63            40 39                                     0
+----------------+---------------------------------------+
|  session's tag |P|  index of the invocation's node     |   0: not recorded
+----------------+---------------------------------------+   P: PRECISE
` + "```\n" + `
## Commands: controller to agent, through the FIFO "commands"

` + "```text\n" + `+-------------------+---------+-----------------+
| u32 length (of    | u8 type | fields          |
| all that follows) |         |                 |
+-------------------+---------+-----------------+
` + "```\n\n")
	messages := func(reply bool) {
		b.WriteString("| message | type | fields |")
		if reply {
			b.WriteString(" reply |")
		}
		b.WriteString(" meaning |\n|---|---:|---|---|")
		if reply {
			b.WriteString("---|")
		}
		b.WriteString("\n")
		for _, m := range wire.Messages {
			if strings.HasPrefix(m.Name, "REQ_") != reply {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d | %s |", m.Name, m.Type, none(m.Fields))
			if reply {
				fmt.Fprintf(&b, " %s |", none(m.Reply))
			}
			fmt.Fprintf(&b, " %s |\n", m.Doc)
		}
	}
	messages(false)
	fmt.Fprintf(&b, `
u8, u32 and u64 are unsigned; str is a u16 length and modified UTF-8; bytes is
a u32 length and the bytes; [] is a u32 count and the fields after it so often.

## Requests: target to controller, through the mailbox

Any thread of the target claims a free box, writes a request in parts of up to
%d bytes, rings the bell (one byte into the FIFO "bell", at most one at a time)
and waits for the reply, bounded by its own patience and by the controller's
heartbeat. The agent's thread always finds a box: requests about methods leave 4
boxes free, those for classes that are being loaded 2. Both directions go in parts;
a message has at most %d MiB.

`, wire.BoxData, wire.MaxMessage>>20)
	b.WriteString("```text\n" + `target      FREE -> CLAIMED -> REQUEST ........... MORE -> REQUEST ...
controller                     takes a part, wants the next ^
controller                     ... REPLY ............... REPLY
target      takes a part, wants the next: NEXT ^, at the end: FREE
target      has lost patience: ABANDONED, or LEFT from REQUEST; controller: FREE
` + "```\n\n")
	messages(true)
	b.WriteString("\n| code | value | meaning |\n|---|---:|---|\n")
	for _, c := range wire.Codes {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", c.Name, c.Value, c.Doc)
	}
	return b.String()
}

func none(s string) string {
	if s == "" {
		return "-"
	}
	return strings.ReplaceAll(s, "[]", "\\[\\]")
}

func areas(b *strings.Builder) {
	rows := []struct {
		off, size int64
		name      string
	}{
		{0, wire.OffSlow, "header"},
		{wire.OffSlow, wire.SlowPlaces << wire.SlowShift, fmt.Sprintf("%d places of %d bytes: the slowest root calls of a moment", wire.SlowPlaces, 1<<wire.SlowShift)},
		{wire.OffSlots, wire.Slots << wire.SlotShift, fmt.Sprintf("%d slots of %d bytes: thread id -> record", wire.Slots, 1<<wire.SlotShift)},
		{wire.OffModes, wire.MaxMethods, fmt.Sprintf("%d modes of one byte, by method id", wire.MaxMethods)},
		{wire.OffRecords, wire.Records << wire.RecordShift, fmt.Sprintf("%d thread records of %d bytes", wire.Records, 1<<wire.RecordShift)},
		{wire.OffBoxes, wire.Boxes << wire.BoxShift, fmt.Sprintf("%d boxes of %d bytes", wire.Boxes, 1<<wire.BoxShift)},
		{wire.OffNodes, -1, fmt.Sprintf("nodes of %d bytes, to the end of the file; node 0 is none", 1<<wire.NodeShift)},
	}
	for _, r := range rows {
		if r.size < 0 {
			fmt.Fprintf(b, "%9d  +----------------------------------------------------+\n           | %-50s |\n", r.off, "")
			fmt.Fprintf(b, "           | %s\n           ~\n", r.name)
			continue
		}
		fmt.Fprintf(b, "%9d  +----------------------------------------------------+\n           | %-50s |\n", r.off, r.name)
	}
}

type section struct {
	title, text string
	prefixes    []string
}

func (s section) has(name string) bool {
	for _, p := range s.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

var sections = []section{
	{"Header", "Offsets from the file's first byte. What probes read on every call shares one cache line with nothing that is written often.", []string{"H_", "MAGIC", "VERSION", "INSIDE_"}},
	{"Agent's states", "Values of H_STATE and H_REASON.", []string{"STATE_", "REASON_"}},
	{"Slots", "An open-addressing table. A thread's home slot is its id modulo the table's size; when that is taken it lies in one of SLOT_PROBE others, spread over the table (Records.java), and the home slot counts it as displaced.", []string{"SLOT", "S_"}},
	{"Modes", "One byte a method, set by the controller at any time.", []string{"MODE", "MAX_METHODS"}},
	{"Thread records", "Leased to a root call. Only the thread that has the record writes it, except R_CLOSED and R_HELD.", []string{"R_", "RECORD", "MAX_RECORDS", "NAME_MAX", "LEASE_"}},
	{"Boxes", "The mailbox.", []string{"B_", "BOX"}},
	{"Nodes", "A calling context: a method, called along one path by one record's threads. Callees form a list. Published by a release store into the list.", []string{"N_", "NODE", "METHOD_", "CACHE_"}},
	{"Survivors", "What became of objects of a type, allocated in a context, that are followed (`--count survivors`). The block lies where an i32 at N_CACHE of the type's node says. Both words of a kind are changed by atomic additions.", []string{"K_", "AGES", "TRACK_"}},
	{"Tokens", "What an instrumented method keeps of an invocation: tag, flags and node. 0 is an invocation that is not recorded.", []string{"INDEX_", "FLAG_", "PRECISE", "TOP", "BACK", "OWN", "OVER", "EVENT"}},
	{"Slowest root calls", "Some root calls share a place. It has the slowest root call of the round; its writer takes no lock, so L_CHECK says whether what is read belongs together.", []string{"SLOW", "L_"}},
	{"Timers", "What `rivulet time` records instead of a tree: a method has T_STRIPES cells for one thread each, then as many for all others, by the thread's id. A cell has a log-linear histogram: the bucket of t ns is i = (s << BUCKET_BITS) + (t >> s), where s is what brings t below 2 << BUCKET_BITS. A bucket is 1/64 wide at the most, so its middle is at most 0.8 % off. The header's words lie beside nothing that is written while recording.", []string{"T_", "CELL_", "BUCKET_", "C_"}},
	{
		"Streams of events", "What `--record events` writes beside the tree, a stream for each thread record, in rings that lie among the nodes. " +
			"Only the thread that has the record writes, only the controller takes out; neither waits for the other, but where a ring of RING_MOST words is full. " +
			"A full smaller ring is followed by a larger one (E_NEXT); its writer has left it then, and the controller frees it (H_FREE_RINGS) when it has taken the rest." + wordDiagram,
		[]string{"RING_", "E_", "EV_", "MARK_", "KIND_", "DELTA_"},
	},
}

const wordDiagram = "\n\n```text\n" + `ring   0        64       128      192                      192 + 8 * (E_MASK + 1)
       +--------+--------+--------+---------------------------+
       | writer | reader | writer | words                     |
       +--------+--------+--------+---------------------------+

word   63                          22 21          4 3      0
       +-----------------------------+-------------+--------+
       | ns since the word before    | method      |  kind  |   EV_ENTER, EV_EXIT, EV_THROWN, EV_LATE, EV_SUSPEND, EV_CHARGE
       +-----------------------------+-------------+--------+
       | value                                     |  kind  |   all others
       +-------------------------------------------+--------+
` + "```"
