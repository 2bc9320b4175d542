// Package metric is the table of what is measured of a calling context: one
// row for each figure, which says where it lies in the data file, how figures
// of several contexts are put together, and how it is named and written.
//
// The tree (package cct), reports and exports (package export), the live page
// and the documentation take their columns from the rows, so a figure that is
// new is a row here and a probe that counts it. A report names the rows that
// it has, and is read by those and not by this program's table: files of other
// versions keep their columns.
//
// Everything here is immutable and safe for concurrent use.
package metric

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Unit says what a figure counts.
type Unit string

// The units. Their texts are those of reports and of pprof's sample types.
const (
	Count       Unit = "count"
	Nanoseconds Unit = "nanoseconds"
	Bytes       Unit = "bytes"
)

// A Merge says how figures of several contexts become one, and those of a
// context and its callees the context's total.
type Merge string

// The ways to merge.
const (
	Sum Merge = "sum"
	Max Merge = "max"
)

// Of puts two figures together. What is no known way is [Sum].
func (m Merge) Of(a, b int64) int64 {
	if m == Max {
		return max(a, b)
	}
	return a + b
}

// A Metric is a row of the table.
type Metric struct {
	Name  string `json:"name"` // of the column, and of the flag's value that asks for it
	Title string `json:"title"`
	Unit  Unit   `json:"unit"`
	Merge Merge  `json:"merge"`

	// Self and Total are the fields of JSON that have the context's own figure
	// and the one with all that it calls. Total is "" where there is none.
	Self  string `json:"self"`
	Total string `json:"total,omitempty"`

	// Rate is the field of JSON that has the context's own figure by its own time, in
	// units per nanosecond; "" where that says nothing.
	Rate string `json:"rate,omitempty"`

	// Word is where an i64 of it lies: a row N_ of the node's, or X_ of the node's
	// side (package wire).
	Word Word   `json:"-"`
	Doc  string `json:"doc,omitempty"` // what it is, for a page's help
}

// A Word is a place in a node, or in its side.
type Word struct {
	Side   bool
	Offset int // bytes, a multiple of 8
}

// Fixed are the metrics that every recording has. A node of package cct has
// fields for them.
var Fixed = []Metric{
	{Name: "calls", Title: "calls", Unit: Count, Merge: Sum, Self: "calls", Word: Word{Offset: wire.NCalls}, Doc: "invocations that began"},
	{Name: "thrown", Title: "thrown", Unit: Count, Merge: Sum, Self: "thrown", Word: Word{Side: true, Offset: wire.XThrown}, Doc: "invocations that an exception ended"},
	{Name: "time", Title: "self", Unit: Nanoseconds, Merge: Sum, Self: "self_ns", Total: "total_ns", Word: Word{Offset: wire.NSelf}, Doc: "time in the method itself, and with all that it calls"},
}

// Bytecodes is what "--count bytecodes" counts.
var Bytecodes = Metric{
	Name: "bytecodes", Title: "bytecodes", Unit: Count, Merge: Sum, Self: "self_bytecodes", Total: "total_bytecodes", Rate: "bytecodes_per_ns",
	Word: Word{Offset: wire.NCount}, Doc: "the bytecode instructions that it executes, exactly, as without probes",
}

// Blocks is what "--count blocks" counts, in the word of [Bytecodes]: a recording has
// one of both. Its names differ, so that nobody takes one for the other.
var Blocks = Metric{
	Name: "block_bytecodes", Title: "bytecodes by blocks", Unit: Count, Merge: Sum, Self: "self_block_bytecodes", Total: "total_block_bytecodes", Rate: "block_bytecodes_per_ns",
	Word: Word{Offset: wire.NCount}, Doc: "the bytecode instructions that it executes, by whole blocks: too many where exceptions leave blocks",
}

// Kinds are what counts the instructions of one kind alone, in the word of [Bytecodes].
var Kinds = []Metric{Invokes, Accesses, Arithmetic, Branches}

// The kinds.
var (
	Invokes = Metric{
		Name: "invokes", Title: "invokes", Unit: Count, Merge: Sum, Self: "self_invokes", Total: "total_invokes",
		Word: Word{Offset: wire.NCount}, Doc: "the invoke instructions that it executes, of methods with probes and without",
	}
	Accesses = Metric{
		Name: "accesses", Title: "accesses", Unit: Count, Merge: Sum, Self: "self_accesses", Total: "total_accesses",
		Word: Word{Offset: wire.NCount}, Doc: "the instructions that it executes that read or write fields, elements of arrays, or an array's length",
	}
	Arithmetic = Metric{
		Name: "arithmetic", Title: "arithmetic", Unit: Count, Merge: Sum, Self: "self_arithmetic", Total: "total_arithmetic",
		Word: Word{Offset: wire.NCount}, Doc: "the instructions that it executes that calculate, convert or compare numbers",
	}
	Branches = Metric{
		Name: "branches", Title: "branches", Unit: Count, Merge: Sum, Self: "self_branches", Total: "total_branches",
		Word: Word{Offset: wire.NCount}, Doc: "the jumps that it executes, taken or not, and switches",
	}
)

// Objects, Arrays and AllocatedBytes are what "--count allocations" counts: sums
// over types. No word of a context has them: a type is a node of its own, and package
// cct adds them up.
var (
	Objects = Metric{
		Name: "allocated_objects", Title: "objects", Unit: Count, Merge: Sum, Self: "self_objects", Total: "total_objects",
		Word: nowhere, Doc: "the objects that it allocates, arrays left out",
	}
	Arrays = Metric{
		Name: "allocated_arrays", Title: "arrays", Unit: Count, Merge: Sum, Self: "self_arrays", Total: "total_arrays",
		Word: nowhere, Doc: "the arrays that it allocates, those within others counted each",
	}
	AllocatedBytes = Metric{
		Name: "allocated_bytes", Title: "allocated", Unit: Bytes, Merge: Sum, Self: "self_bytes", Total: "total_bytes",
		Word: nowhere, Doc: "the memory of what it allocates, in this JVM, as far as the sizes of types are known",
	}
)

// SurvivedBytes and LiveBytes are what "--count survivors" estimates, beside what "--count
// allocations" counts. No word of a context has them, either.
var (
	SurvivedBytes = Metric{
		Name: "survived_bytes", Title: "~survived", Unit: Bytes, Merge: Sum, Self: "self_survived_bytes", Total: "total_survived_bytes",
		Word: nowhere, Doc: "the memory of what it allocates that has survived a garbage collection at least, estimated from some of the objects",
	}
	LiveBytes = Metric{
		Name: "live_bytes", Title: "~live", Unit: Bytes, Merge: Sum, Self: "self_live_bytes", Total: "total_live_bytes",
		Word: nowhere, Doc: "the memory of what of that is not known to be gone",
	}
)

// ClassLoads and ClassLoadTime are what "--count classes" counts. No word of a context has them: the
// controller knows at which node each class was loaded.
var (
	ClassLoads = Metric{
		Name: "class_loads", Title: "loads", Unit: Count, Merge: Sum, Self: "self_class_loads", Total: "total_class_loads",
		Word: nowhere, Doc: "the classes that it causes to be loaded",
	}
	ClassLoadTime = Metric{
		Name: "class_load_time", Title: "loading", Unit: Nanoseconds, Merge: Sum, Self: "self_class_load_ns", Total: "total_class_load_ns",
		Word: nowhere, Doc: "how long loading these classes takes, as far as Flight Recorder tells",
	}
)

// LockWaits and LockTime are what "--count contention" counts, by Flight Recorder. No word of a context
// has them.
var (
	LockWaits = Metric{
		Name: "lock_waits", Title: "lock waits", Unit: Count, Merge: Sum, Self: "self_lock_waits", Total: "total_lock_waits",
		Word: nowhere, Doc: "how often it has to wait for a monitor or another lock that a thread holds",
	}
	LockTime = Metric{
		Name: "lock_wait_time", Title: "blocked", Unit: Nanoseconds, Merge: Sum, Self: "self_lock_wait_ns", Total: "total_lock_wait_ns",
		Word: nowhere, Doc: "how long it waits for these locks",
	}
)

// HeapBytes and HeapBelow are what "--count heap" estimates, by samples of Flight Recorder's. No word of a context
// has them.
var (
	HeapBytes = Metric{
		Name: "heap_bytes", Title: "~on heap", Unit: Bytes, Merge: Sum, Self: "estimated_heap_bytes", Total: "estimated_heap_total_bytes",
		Word: nowhere, Doc: "estimated by samples of the heap: the memory of what its own code allocated and the compiler did not remove",
	}
	HeapBelow = Metric{
		Name: "heap_below_bytes", Title: "~heap below", Unit: Bytes, Merge: Sum, Self: "estimated_heap_below_bytes", Total: "estimated_heap_below_total_bytes",
		Word: nowhere, Doc: "estimated by samples of the heap: the memory of what methods without probes, such as the JDK's, allocated for it",
	}
)

// nowhere is the word of a metric that follows from others.
var nowhere = Word{Offset: -1}

// A Counting is a value of "--count", and the metrics that it adds.
type Counting struct {
	Name, Doc string
	Rows      []Metric
	Needs     string // the name of another one that it counts, too; "" for none
}

// The names of [Countings].
const (
	CountBytecodes   = "bytecodes"
	CountBlocks      = "blocks"
	CountAllocations = "allocations"
	CountClasses     = "classes"
	CountSurvivors   = "survivors"
	CountContention  = "contention"
	CountHeap        = "heap"
)

// Countings are what a recording counts if it is asked for it.
var Countings = func() []Counting {
	list := []Counting{
		{Name: CountBytecodes, Doc: Bytecodes.Doc, Rows: []Metric{Bytecodes}},
		{Name: CountBlocks, Doc: "the same by whole blocks of code: makes methods less long, and counts too many where exceptions leave blocks", Rows: []Metric{Blocks}},
		{Name: CountClasses, Doc: "the classes that it causes to be loaded, and how long that takes, by Flight Recorder", Rows: []Metric{ClassLoads, ClassLoadTime}},
		{Name: CountAllocations, Doc: "the objects and arrays that it allocates, by type, and their bytes in this JVM", Rows: []Metric{Objects, Arrays, AllocatedBytes}},
		{
			Name: CountSurvivors, Doc: "what of its allocations survives garbage collections, how many, and what is still there, by type: estimated from some of the objects",
			Rows: []Metric{SurvivedBytes, LiveBytes}, Needs: CountAllocations,
		},
		{
			Name: CountHeap, Doc: "what of its allocations is on the heap, and what methods without probes allocate for it: estimated by the JVM's own samples, JDK 16 and later",
			Rows: []Metric{HeapBytes, HeapBelow}, Needs: CountAllocations,
		},
		{Name: CountContention, Doc: "how often it has to wait for a lock that another thread holds, and how long, by Flight Recorder", Rows: []Metric{LockWaits, LockTime}},
	}
	for _, m := range Kinds {
		list = append(list, Counting{Name: m.Name, Doc: m.Doc, Rows: []Metric{m}})
	}
	return list
}()

// Executes tells whether a value of "--count" counts instructions. A recording has one word for
// these, and so one of them.
func Executes(name string) bool {
	c, ok := Asked(name)
	return ok && c.Rows[0].executes()
}

func (m Metric) executes() bool { return m.Word == Bytecodes.Word }

// Asked finds one of [Countings].
func Asked(name string) (c Counting, ok bool) {
	i := slices.IndexFunc(Countings, func(c Counting) bool { return c.Name == name })
	if i < 0 {
		return Counting{}, false
	}
	return Countings[i], true
}

// AskedBy is the name of the one of [Countings] that adds a metric; the metric's own
// name if none does.
func AskedBy(name string) string {
	for _, c := range Countings {
		if slices.ContainsFunc(c.Rows, func(m Metric) bool { return m.Name == name }) {
			return c.Name
		}
	}
	return name
}

// Counted are the metrics of all [Countings].
func Counted() (rows []Metric) {
	for _, c := range Countings {
		rows = append(rows, c.Rows...)
	}
	return rows
}

// Named finds one of [Counted].
func Named(name string) (m Metric, ok bool) {
	rows := Counted()
	i := slices.IndexFunc(rows, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return rows[i], true
}

// Room is how many metrics a recording can have beside [Fixed].
const Room = 12

// A Table is the metrics that a recording has beside [Fixed], at most [Room].
type Table struct{ Rows []Metric }

// NewTable makes one of rows; nil of none. Rows beyond [Room] are left out.
func NewTable(rows ...Metric) *Table {
	if len(rows) == 0 {
		return nil
	}
	return &Table{rows[:min(len(rows), Room)]}
}

// Index is the place of a metric, by its name; -1 if it is none of the table, which may be nil.
func (t *Table) Index(name string) int {
	if t == nil {
		return -1
	}
	return slices.IndexFunc(t.Rows, func(m Metric) bool { return m.Name == name })
}

// Executed is the place of what says how many instructions were executed, all or those of a
// kind; -1 if the table, which may be nil, has none.
func (t *Table) Executed() int {
	for _, k := range Kinds {
		if i := t.Index(k.Name); i >= 0 {
			return i
		}
	}
	return t.Bytecodes()
}

// Bytecodes is the place of what says how many instructions of any kind were executed: [Bytecodes]
// or [Blocks]; -1 if the table, which may be nil, has neither.
func (t *Table) Bytecodes() int { return max(t.Index(Bytecodes.Name), t.Index(Blocks.Name)) }

// All are the rows; none of a nil table.
func (t *Table) All() []Metric {
	if t == nil {
		return nil
	}
	return t.Rows
}

// Values are a context's figures of a table's metrics. Own is the context's,
// Total with all that it calls.
type Values struct {
	Table      *Table
	Own, Total [Room]int64

	// Unwound are the invocations that ended by an exception without an exit of
	// their own, Open those that had not ended when they were read, or cut off by
	// a pause: a probe that flushes when an invocation ends has counted nothing of them.
	Unwound, Open int64
}

// Add puts another context's own figures in. Where the tables differ, a metric
// that v doesn't have is left out.
func (v *Values) Add(o *Values) {
	v.Unwound += o.Unwound
	v.Open += o.Open
	v.put(&v.Own, o, &o.Own)
}

// Below puts the totals of a callee into the context's.
func (v *Values) Below(callee *Values) { v.put(&v.Total, callee, &callee.Total) }

// Over puts the totals of another context in, which is no callee.
func (v *Values) Over(o *Values) { v.put(&v.Total, o, &o.Total) }

func (v *Values) put(to *[Room]int64, o *Values, from *[Room]int64) {
	for i := range v.Table.Rows {
		k := i
		if o.Table != v.Table {
			if k = o.Table.Index(v.Table.Rows[i].Name); k < 0 {
				continue
			}
		}
		to[i] = v.Table.Rows[i].Merge.Of(to[i], from[k])
	}
}
