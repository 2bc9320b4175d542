package linktest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Class is one of the pretended JVM's.
type Class struct {
	link.Class
	File  []byte // as its loader gives it; empty: none can be had
	Bytes []byte // in force; File at first
}

// A JVM is what the agent pretends to be in. It must not be changed once [Start] has it;
// the zero value has no class.
type JVM struct {
	Java    string // version, "17.0.1" if empty
	Loaders []link.Loader
	Classes []*Class

	// Refuse says why the JVM takes no new bytes of a class, "" if it does. Nil refuses none.
	Refuse func(id cha.ClassID, b []byte) string
}

// An Agent answers a session. Its methods are safe for concurrent use; each call of a
// method that waits for the session is a thread of the pretended program.
type Agent struct {
	jvm      JVM
	memory   *memory
	commands *os.File
	done     chan struct{}

	mu      sync.Mutex
	classes map[cha.ClassID]*Class
	order   []cha.ClassID
	batches [][]cha.ClassID // that were redefined
	err     error           // that has ended the agent
}

// Start brings the agent up in a session's room, the folder that the agent's option
// names. Errors are the operating system's.
func Start(room string, jvm JVM) (a *Agent, err error) {
	a = &Agent{jvm: jvm, done: make(chan struct{}), classes: map[cha.ClassID]*Class{}}
	for _, c := range jvm.Classes {
		a.add(c)
	}
	data, err := os.ReadFile(filepath.Join(room, "data.at"))
	if err != nil {
		return nil, err
	}
	if a.memory, err = mapData(string(data)); err != nil {
		return nil, err
	}
	if a.commands, err = os.OpenFile(filepath.Join(room, "commands"), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if a.memory.bell, err = os.OpenFile(filepath.Join(room, "bell"), os.O_RDWR, 0); err != nil {
		return nil, errors.Join(err, a.commands.Close())
	}
	a.state(wire.StateUp)
	go func() {
		defer close(a.done)
		err := a.run()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = err
	}()
	return a, nil
}

// Close ends an agent that was not told to stop, and waits for its end. It returns the error
// that ended it, nil if that was the session's word. Nothing may use the agent afterwards.
func (a *Agent) Close() error {
	closed := a.commands.Close()
	<-a.done
	err := errors.Join(a.memory.bell.Close(), unix.Munmap(a.memory.mem))
	if a.err != nil && !errors.Is(a.err, os.ErrClosed) {
		return errors.Join(a.err, err)
	}
	if errors.Is(closed, os.ErrClosed) {
		closed = nil
	}
	return errors.Join(closed, err)
}

// Done is closed when the agent has ended.
func (a *Agent) Done() <-chan struct{} { return a.done }

func (a *Agent) state(s uint32) { atomic.StoreUint32(a.memory.word(wire.HState), s) }

func (a *Agent) add(c *Class) {
	if c.Bytes == nil {
		c.Bytes = c.File
	}
	a.classes[c.ID] = c
	a.order = append(a.order, c.ID)
}

// run is the agent's thread.
func (a *Agent) run() error {
	java := a.jvm.Java
	if java == "" {
		java = "17.0.1"
	}
	if _, err := a.memory.call(&link.Hello{Java: java, Nano: nano(), Retransform: true, PID: uint32(os.Getpid())}); err != nil {
		return err
	}
	for {
		c, err := a.next()
		if err == nil {
			err = a.obey(c)
		}
		if err != nil {
			return err
		}
		if _, stop := c.(*link.Stop); stop {
			a.state(wire.StateStopped)
			return nil
		}
	}
}

// nano is System.nanoTime.
func nano() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// next reads a command.
func (a *Agent) next() (link.Command, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(a.commands, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-1)
	if _, err := io.ReadFull(a.commands, body); err != nil {
		return nil, err
	}
	make := link.Commands[head[4]]
	if make == nil {
		return nil, fmt.Errorf("command %d", head[4])
	}
	c := make()
	return c, link.Decode(c, body)
}

// obey carries a command out.
func (a *Agent) obey(c link.Command) error {
	switch c := c.(type) {
	case *link.List:
		return a.list(c.JDK)
	case *link.Fetch:
		return a.fetch(c.Classes)
	case *link.Retransform:
		return a.retransform(c)
	case *link.Find:
		return a.tell(&link.Found{Name: c.Name, Loaders: a.loadersOf(c.Name)})
	case *link.ListNames:
		return a.tell(&link.Names{Last: true, Names: a.jdk()})
	case *link.Calibrate:
		return a.calibrate(c)
	case *link.Stop:
		return a.restore()
	}
	return nil // Go: nobody waits
}

// tell sends what is answered with nothing.
func (a *Agent) tell(q link.Request) error {
	_, err := a.memory.call(q)
	return err
}

func (a *Agent) list(jdk bool) error {
	if len(a.jvm.Loaders) > 0 {
		if err := a.tell(&link.Loaders{Rows: a.jvm.Loaders}); err != nil {
			return err
		}
	}
	a.mu.Lock()
	var rows []link.Class
	for _, id := range a.order {
		if c := a.classes[id]; id.Loader != 0 || jdk {
			rows = append(rows, c.Class)
		}
	}
	a.mu.Unlock()
	return a.tell(&link.Classes{Last: true, Rows: rows})
}

func (a *Agent) fetch(ids []cha.ClassID) error {
	m := &link.Files{Last: true}
	a.mu.Lock()
	for _, id := range ids {
		f := link.File{ID: id}
		if c := a.classes[id]; c != nil {
			f.Bytes = c.File
		}
		m.Rows = append(m.Rows, f)
	}
	a.mu.Unlock()
	return a.tell(m)
}

func (a *Agent) loadersOf(name string) (out []uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.classes {
		if id.Name == name {
			out = append(out, id.Loader)
		}
	}
	slices.Sort(out)
	return out
}

func (a *Agent) jdk() (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.order {
		if id.Loader == 0 {
			out = append(out, id.Name)
		}
	}
	return out
}

// retransform asks for the bytes of each class, as the load hook does, and puts them in force
// together. Those that are not initialized it leaves to the threads that wait for them.
func (a *Agent) retransform(c *link.Retransform) error {
	began := time.Now()
	b := &link.Batch{Number: c.Batch}
	var classes []cha.ClassID
	for _, id := range c.Classes {
		if class := a.Class(id); !c.All && class != nil && class.State&wire.ClassInitialized == 0 {
			b.Rows = append(b.Rows, link.Outcome{ID: id, Code: wire.OutcomeLeft})
			continue
		}
		classes = append(classes, id)
	}
	refused, err := a.redefine(classes, wire.HookAgent)
	if err != nil {
		return err
	}
	b.Took = int64(time.Since(began))
	for _, r := range refused {
		code := uint8(wire.OutcomeRefused)
		if a.Class(r.ID) == nil {
			code = wire.OutcomeGone
		}
		b.Rows = append(b.Rows, link.Outcome{ID: r.ID, Code: code, Reason: r.Reason})
	}
	return a.tell(b)
}

// redefine does classes for a thread, and returns those that the JVM does not take.
func (a *Agent) redefine(ids []cha.ClassID, flags uint8) (refused []link.Refusal, err error) {
	fresh := map[cha.ClassID][]byte{}
	for i, id := range ids {
		c := a.Class(id)
		if c == nil {
			refused = append(refused, link.Refusal{ID: id, Reason: "the class is gone"})
			continue
		}
		flags := flags | wire.HookRedefined
		if i == len(ids)-1 {
			flags |= wire.HookLast
		}
		b, err := a.transform(id, c.File, flags)
		if err != nil {
			return nil, err
		}
		if b == nil {
			b = c.File
		}
		if f := a.jvm.Refuse; f != nil {
			if reason := f(id, b); reason != "" {
				refused = append(refused, link.Refusal{ID: id, Reason: reason})
				continue
			}
		}
		fresh[id] = b
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, b := range fresh {
		a.classes[id].Bytes = b
	}
	a.batches = append(a.batches, slices.Clone(ids))
	a.memory.add(wire.HRedefined, 1)
	return refused, nil
}

// transform asks what a class's bytes are to be; nil for those that it has.
func (a *Agent) transform(id cha.ClassID, b []byte, flags uint8) ([]byte, error) {
	reply, err := a.memory.call(&link.Transform{ID: id, Flags: flags, Bytes: b})
	if err != nil {
		return nil, err
	}
	var t link.Transformed
	if err := link.Decode(&t, reply); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	if t.Answer != wire.TransformProbes {
		return nil, nil
	}
	return t.Bytes, nil
}

// calibrate says that the sample can't be made: there is nothing to run it.
func (a *Agent) calibrate(c *link.Calibrate) error {
	return a.tell(&link.Calibrated{Number: c.Number})
}

// restore puts every class's own bytes back.
func (a *Agent) restore() error {
	a.state(wire.StateStopping)
	a.mu.Lock()
	n := uint32(0)
	for _, c := range a.classes {
		if !slices.Equal(c.Bytes, c.File) {
			n++
		}
		c.Bytes = c.File
	}
	a.mu.Unlock()
	return a.tell(&link.Restored{Classes: n, Took: 1})
}
