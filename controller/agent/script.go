package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Source is a script's text.
type Source struct {
	Name string // of the agent: the file's without its ending
	Path string
	Text string
	Args map[string]string // what the script has as args
	Dir  string            // folder that it may write to, made when it does
}

// mostText bounds a script, in bytes.
const mostText = 1 << 20

// Read reads a script from a file. It may write to the folder NAME.out below dir.
func Read(path, dir string, args map[string]string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostText {
		return Source{}, fmt.Errorf("%s is no regular file of at most %d KB", path, mostText>>10)
	}
	text, err := os.ReadFile(path)
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return Source{Name: name, Path: path, Text: string(text), Args: args, Dir: filepath.Join(dir, name+".out")}, err
}

// Kinds of handlers.
const (
	onStart     = "start"
	onTime      = "time"
	onBytecodes = "bytecodes"
	onExit      = "exit"
	onEnd       = "end"
)

// A handler is a function of a script and what it is called for.
type handler struct {
	kind  string
	do    starlark.Callable
	every time.Duration // of onTime
	next  time.Time     // of onTime
	count int64         // of onBytecodes
	exact bool          // of onExit: the thread is held meanwhile
	over  time.Duration // of onExit: of invocations that took as long

	counted map[threadKey]int64 // of onBytecodes: a thread's count at its last activation
	each    map[threadKey]int64 // of onBytecodes: what the script has said since
}

// Bounds of what a script may print, in lines and bytes of a line.
const (
	mostLines = 1000
	mostLine  = 4000
)

// A script is an agent at work. Everything but what mu guards belongs to who activates it.
type script struct {
	Source
	limits   Limits
	host     *Host
	thread   *starlark.Thread
	globals  starlark.StringDict
	handlers []*handler
	folder   folder
	loading  bool
	last     *moment    // of the last activation
	now      *recording // during an activation
	ctx      context.Context

	activations int64
	spent       time.Duration

	mu      sync.Mutex
	output  []string
	dropped int64 // lines before these
	failed  string
	marks   int64
	files   []string
	told    int64 // activations
	took    time.Duration
	gone    bool
}

// load compiles a script and runs its top level, which names the handlers.
func load(src Source, h *Host, limits Limits) (*script, error) {
	s := &script{Source: src, limits: limits.withDefaults(), host: h, loading: true, ctx: context.Background()}
	s.folder = folder{dir: src.Dir, most: s.limits.Files}
	s.thread = &starlark.Thread{Name: src.Name, Print: func(_ *starlark.Thread, text string) { s.print(text) }}
	predeclared := s.builtins()
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
	file, err := options.Parse(src.Path, src.Text, 0)
	if err != nil {
		return nil, err
	}
	guard(file)
	program, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, err
	}
	err = s.limits.bounded(context.Background(), s.thread, func() (err error) {
		s.globals, err = program.Init(s.thread, predeclared)
		return err
	})
	s.loading = false
	if err != nil {
		return nil, errors.New(traceback(err))
	}
	if len(s.handlers) == 0 {
		return nil, fmt.Errorf("%s names no function to be called: use on_start, on_time, on_bytecodes, on_exit or on_end", src.Path)
	}
	return s, nil
}

// traceback is an error with where it happened.
func traceback(err error) string {
	var e *starlark.EvalError
	if errors.As(err, &e) {
		return strings.TrimSpace(e.Backtrace())
	}
	return err.Error()
}

// print keeps a line, and tells whoever wants to know.
func (s *script) print(text string) {
	for line := range strings.Lines(text) {
		line = export.Clean(strings.TrimRight(line, "\n"))
		if len(line) > mostLine {
			line = strings.ToValidUTF8(line[:mostLine], "") + "…"
		}
		s.mu.Lock()
		if len(s.output) == mostLines {
			s.output = slices.Delete(s.output, 0, mostLines/10)
			s.dropped += mostLines / 10
		}
		s.output = append(s.output, line)
		s.mu.Unlock()
		if !s.loading {
			s.host.tell(s.Name + ": " + line)
		}
	}
}

// wants tells whether any handler is of a kind.
func (s *script) wants(kind string) bool {
	return slices.ContainsFunc(s.handlers, func(h *handler) bool { return h.kind == kind })
}

// activate calls a handler. What it returns is nil where it failed.
func (s *script) activate(ctx context.Context, h *handler, m *moment, c cause) starlark.Value {
	if s.broken() {
		return nil
	}
	begin := time.Now()
	s.activations++
	s.ctx, s.now = ctx, &recording{s: s, now: m, before: s.last, cause: c}
	var out starlark.Value
	err := s.limits.bounded(ctx, s.thread, func() (err error) {
		out, err = starlark.Call(s.thread, h.do, starlark.Tuple{s.now}, nil)
		return err
	})
	if err == nil {
		if kept := size(s.limits.Memory, s.values()...); kept > s.limits.Memory {
			err = fmt.Errorf("it keeps more than %d MB", s.limits.Memory>>20)
		}
	}
	s.spent += time.Since(begin)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told, s.took = s.activations, s.spent
	if !errors.Is(err, errGone) { // else it may still be at work
		s.last, s.now = m, nil
		s.files = slices.Clone(s.folder.files)
	}
	switch {
	case err == nil:
		return out
	case errors.Is(err, errEnding): // no fault of the script's
		return nil
	}
	s.gone = errors.Is(err, errGone)
	s.failed = fmt.Sprintf("activation %d (%s): %s", s.activations, c.reason, traceback(err))
	s.host.tell(fmt.Sprintf("agent %s has failed and is disabled: %s", s.Name, s.failed))
	return nil
}

func (s *script) values() []starlark.Value {
	out := make([]starlark.Value, 0, len(s.globals))
	for _, v := range s.globals {
		out = append(out, v)
	}
	return out
}

func (s *script) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != ""
}

// result is how it went so far.
func (s *script) result() export.Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return export.Agent{
		Name: s.Name, Activations: s.told, Seconds: s.took.Seconds(), Output: slices.Clone(s.output), Dropped: s.dropped,
		Folder: s.Dir, Files: slices.Clone(s.files), Marks: s.marks, Failed: s.failed,
	}
}

// builtins is what scripts can name beside the universe of Starlark.
func (s *script) builtins() starlark.StringDict {
	args := starlark.NewDict(len(s.Args))
	for _, k := range sortedKeys(s.Args) {
		args.SetKey(starlark.String(k), starlark.String(s.Args[k])) //nolint:errcheck // strings can be keys
	}
	args.Freeze()
	out := starlark.StringDict{"args": args, "json": json.Module, "math": math.Module}
	add := func(name string, f func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)) {
		out[name] = starlark.NewBuiltin(name, f)
	}
	add("range", boundedRange)
	for name, f := range map[string]func(starlark.Value) starlark.Value{
		operandName: func(v starlark.Value) starlark.Value { return operand{v} }, addendName: addend, methodName: guardMethod,
	} {
		add(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return f(args[0]), nil
		})
	}
	s.addHandlers(add)
	s.addActions(add)
	return out
}
