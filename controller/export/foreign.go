package export

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Sources of reports that other profilers, or [Report.Pprof] and [Report.Collapsed], wrote.
const (
	pprofSource     = "pprof"
	collapsedSource = "collapsed"
)

// A stackTree makes a report of stacks with values, as files of other profilers have
// them. Nothing in it recurses.
type stackTree struct {
	methods []cct.Method
	ids     map[string]int32
	threads []*cct.Thread
	named   map[string]*treeThread
	samples int64
}

// A treeThread finds the nodes of a thread's tree.
type treeThread struct {
	thread *cct.Thread
	nodes  map[nodeKey]*cct.Node
}

type nodeKey struct {
	parent *cct.Node // nil of a root
	method int32
}

// thread finds a thread, or begins one. "" stands for all threads together.
func (t *stackTree) thread(name string) *treeThread {
	if t.named == nil {
		t.named, t.ids = map[string]*treeThread{}, map[string]int32{}
	}
	th := t.named[name]
	if th == nil {
		th = &treeThread{&cct.Thread{ID: int64(len(t.threads) + 1), Name: name}, map[nodeKey]*cct.Node{}}
		if name == "" {
			th.thread.Name = "all threads"
		}
		t.named[name] = th
		t.threads = append(t.threads, th.thread)
	}
	return th
}

// A foreignFrame is a frame of a stack.
type foreignFrame struct {
	name   string // as reports have it
	source string // "" if unknown
	line   int
}

// method numbers a frame's method.
func (t *stackTree) method(f foreignFrame) int32 {
	id, ok := t.ids[f.name]
	if !ok {
		id = int32(len(t.methods))
		t.methods = append(t.methods, cct.Method{Name: f.name, Source: f.source, Line: f.line})
		t.ids[f.name] = id
	}
	return id
}

// add counts samples of a stack, from the root down, that stand for a time in ns.
func (t *stackTree) add(thread string, stack []foreignFrame, samples, ns, entries int64) {
	th := t.thread(thread)
	var at *cct.Node
	for _, f := range stack {
		k := nodeKey{at, t.method(f)}
		n := th.nodes[k]
		if n == nil {
			n = &cct.Node{Method: k.method}
			th.nodes[k] = n
			if at == nil {
				th.thread.Roots = append(th.thread.Roots, n)
			} else {
				at.Children = append(at.Children, n)
			}
		}
		at = n
	}
	if at == nil {
		return
	}
	at.Self += ns
	at.Calls += entries
	if at.Sample() == nil {
		at.Details().Sample = &cct.Sample{}
	}
	at.Sample().Count += samples
	at.Sample().Ran, at.Sample().Wall = at.Self, at.Self
	t.samples += samples
}

// report is what was added.
func (t *stackTree) report(source, mode string, hz float64, took time.Duration, notes ...string) *Report {
	tree := &cct.Snapshot{Threads: t.threads}
	roots := tree.Roots()
	cct.Totals(roots)
	for n := range cct.All(roots) {
		if n.Sample() != nil {
			n.Error = n.Sample().Error()
		}
	}
	methods := t.methods
	r := &Report{
		Time: took, Tree: tree, Notes: notes,
		Sampling: &Sampling{Source: source, Mode: mode, Hz: hz, Samples: t.samples, Seconds: took.Seconds()},
		Lookup: func(id int32) (cct.Method, bool) {
			if id < 0 || int(id) >= len(methods) {
				return cct.Method{}, false
			}
			return methods[id], true
		},
	}
	if mode == WallMode {
		r.CPU = &CPU{Samples: t.samples}
	}
	return r
}

// dotted is a class of the JVM's form with its method, as async-profiler writes it.
var dotted = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$-]*(/[\p{L}\p{N}_$.+-]+)*\.(<init>|<clinit>|[\p{L}_$][\p{L}\p{N}_$-]*)(\(.*)?$`)

// frameEnds are what async-profiler puts behind a frame, to say how it was compiled.
var frameEnds = []string{"_[j]", "_[i]", "_[0]", "_[1]", "_[k]"}

// methodName is the name of a method as reports have it: "java/lang/Thread.run" is
// java.lang.Thread.run. What stands for semicolons in a descriptor becomes one again:
// flame graph tools take them for the end of a frame.
func methodName(s string) string {
	for _, end := range frameEnds {
		s = strings.TrimSuffix(s, end)
	}
	bare, rest, has := strings.Cut(s, "(")
	if has && dotted.MatchString(s) {
		rest = "(" + strings.NewReplacer(":", ";", "|", ";").Replace(rest)
	} else if has {
		return s // a function of another language
	}
	if dotted.MatchString(bare) {
		bare = strings.ReplaceAll(bare, "/", ".")
	}
	return bare + rest
}

// A foreignKind is a form of files that other profilers write.
type foreignKind int

const (
	ownKind foreignKind = iota // JSON
	pprofKind
	collapsedKind
)

// kindOfFile tells by its first bytes what a file is.
func kindOfFile(head []byte) foreignKind {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0 || text[0] == '{':
		return ownKind
	case bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }):
		return pprofKind
	}
	line, _, whole := bytes.Cut(text, []byte("\n"))
	if _, _, ok := collapsedLine(string(line)); ok || !whole && utf8.Valid(line) && bytes.ContainsRune(line, ';') {
		return collapsedKind
	}
	return ownKind // which says what is wrong
}

// mostForeign bounds files of other profilers, unpacked.
const mostForeign = 1 << 30

// readForeign reads a file of a kind that isn't our own.
func readForeign(in io.Reader, kind foreignKind) (*Report, error) {
	bounded := &io.LimitedReader{R: in, N: mostForeign}
	read := readCollapsed
	if kind == pprofKind {
		read = readPprof
	}
	r, err := read(bounded)
	if bounded.N <= 0 {
		return nil, fmt.Errorf("it unpacks to more than %d GB", mostForeign>>30)
	}
	return r, err
}
