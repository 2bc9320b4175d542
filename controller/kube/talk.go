package kube

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// WorkerName is the hidden command that works in a pod.
const WorkerName = "in-pod"

// Who works in a pod reads a request and then words from its standard input, a line each, and writes frames to
// its standard output: "KIND LENGTH\n" and so many bytes. A lost connection need not end its input: if no word comes for
// Lost, it ends, too. The other side writes "alive" every AliveEach.
const (
	AliveEach = 5 * time.Second
	Lost      = 30 * time.Second
)

// Words to a worker.
const (
	wordAlive = "alive"
	wordStop  = "stop" // end what is going on and report
	wordQuit  = "quit" // don't wait for the target
)

// Kinds of frames.
const (
	frameJVMs   = "jvms"   // which will have a result: a list of fleet.JVM
	frameState  = "state"  // a fleet.Progress
	framePart   = "part"   // a result so far, as fleet.Pack makes it
	frameResult = "result" // a result
	frameFailed = "failed" // an Error; nothing comes after it
	frameAlive  = "alive"
)

// ErrRoom is wrapped by the error of a worker whose results find no room beside those of others.
var ErrRoom = errors.New("no room for the results of so many containers")

// mostFrame bounds a frame: a report of a very large tree has 100 MB.
const mostFrame = 1 << 30

// A Request is what a worker is to do.
type Request struct {
	Command fleet.Command `json:"command"` // Target is filled in for each JVM
	PIDs    []int         `json:"pids,omitempty"`
	Match   []string      `json:"match,omitempty"`
	All     bool          `json:"all,omitempty"`
	Unlink  bool          `json:"unlink,omitempty"` // its own binary

	LittleMemory bool `json:"little_memory,omitempty"` // see session.Config

	Threads *Threads `json:"threads,omitempty"` // of DoThreads
	Doctor  *Doctor  `json:"doctor,omitempty"`  // of DoDoctor
}

// What a worker can do beyond what nodes of a fleet can.
const (
	DoThreads = "threads"
	DoDoctor  = "doctor"
)

// Threads says how to look at threads: the options of rivulet threads.
type Threads struct {
	Length  time.Duration `json:"length_ns,omitempty"`
	Virtual bool          `json:"virtual,omitempty"`
}

// Doctor says what rivulet doctor is to look at beside the JVM.
type Doctor struct {
	Root string `json:"root,omitempty"`
}

// A failure is an Error on its way.
type failure struct{ Check, Cause, Fix string }

// Heard is what comes from a worker.
type Heard struct {
	JVMs   func([]fleet.JVM)
	State  func(fleet.Progress)
	Part   func(*fleet.Result) // replaces the one before of the same target
	Result func(*fleet.Result)

	Room *Room // for what many workers send at the same time; nil is without a bound
}

// A Room bounds the memory that frames of many workers take. It may be used concurrently.
type Room struct {
	mu   sync.Mutex
	left int64
}

// NewRoom is room for so many bytes of results, packed as they come.
func NewRoom(bytes int64) *Room { return &Room{left: bytes} }

// take takes room, or gives it back where n is negative; false if there is too little.
func (r *Room) take(n int64) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.left {
		return false
	}
	r.left -= n
	return true
}

// Talk starts a worker in a container and returns when it has ended. When ctx ends the worker is told to stop and its results are waited
// for; when now ends it is told to go, and nothing is waited for. The error says why there are no results, or not all.
func Talk(ctx, now context.Context, c Cluster, at Place, r *Request, command []string, h Heard) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	toWorker, in := io.Pipe()
	out, fromWorker := io.Pipe()
	errs := &tail{}
	var wg sync.WaitGroup
	wg.Go(func() { tellWorker(ctx, now, running, in, line) })
	var heard error
	wg.Go(func() {
		heard = h.listen(out)
		// What can't be understood must not fill the pipe, or the worker waits for ever.
		_, _ = io.Copy(io.Discard, out)
	})
	defer context.AfterFunc(now, func() {
		time.AfterFunc(quitWait, func() { cancel(errors.New("not waited for")) })
	})()
	err = c.Exec(running, at, Streams{In: toWorker, Out: fromWorker, Err: errs}, command...)
	fromWorker.Close()
	cancel(nil) // also closes toWorker's other end
	wg.Wait()
	var failed *Error
	switch {
	case errors.As(heard, &failed):
		return failed
	case errors.Is(heard, ErrRoom):
		return &Error{CheckMemory, "of " + at.String() + ": " + heard.Error(), "look at fewer containers at a time", heard}
	case err != nil:
		return workerError(at, err, errs.String(), heard)
	case heard != nil:
		return &Error{CheckConnection, "what came from " + at.String() + " can't be read: " + heard.Error(), "use the same version of Rivulet on both sides", heard}
	}
	return nil
}

// quitWait is how long a worker that was told to go may take for it.
const quitWait = 3 * time.Second

// workerError says what ended a worker before its time.
func workerError(at Place, err error, said string, heard error) error {
	var exit *ExitError
	if !errors.As(err, &exit) {
		var known *Error
		if errors.As(err, &known) {
			return err
		}
		return &Error{CheckConnection, "the connection with " + at.String() + " was lost: " + err.Error(), "the recording ends by itself, and the JVM is restored", err}
	}
	said = oneLine(said)
	if said != "" {
		said = ": " + said
	}
	switch exit.Code {
	case 126:
		return &Error{CheckPlace, "the copied binary may not be executed in " + at.String() + said, "use an ephemeral container: --image IMAGE", err}
	case 127:
		return &Error{CheckBinary, "there is no Rivulet in " + at.String() + said, "--image must name an image of Rivulet", err}
	case 137:
		return &Error{CheckMemory, "Rivulet was killed in " + at.String() + ", probably since the container's memory was full", "raise its limit, or use an ephemeral container: --image IMAGE", err}
	}
	if heard != nil {
		said += " (" + heard.Error() + ")"
	}
	return fmt.Errorf("in %s Rivulet ended with code %d%s", at, exit.Code, said)
}

// tellWorker writes the request, and then words until running ends.
func tellWorker(ctx, now, running context.Context, in *io.PipeWriter, request []byte) {
	defer in.Close()
	context.AfterFunc(running, func() { in.Close() }) // ends a write that nobody reads
	if _, err := in.Write(append(request, '\n')); err != nil {
		return
	}
	t := time.NewTicker(AliveEach)
	defer t.Stop()
	stop, quit := ctx.Done(), now.Done()
	for {
		word := wordAlive
		select {
		case <-running.Done():
			return
		case <-stop:
			word, stop = wordStop, nil
		case <-quit:
			word, quit = wordQuit, nil
		case <-t.C:
		}
		if _, err := io.WriteString(in, word+"\n"); err != nil {
			return
		}
	}
}

// listen reads frames until the worker has ended. A frame that says why it failed is the error.
func (h *Heard) listen(r io.Reader) error {
	b := bufio.NewReader(r)
	ended := map[fleet.Target]bool{}  // which have their result
	parts := map[fleet.Target]int64{} // room of those that may be all that comes
	for {
		kind, body, err := readFrame(b, h.Room)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case frameJVMs:
			var list []fleet.JVM
			if err := json.Unmarshal(body, &list); err != nil {
				return err
			}
			h.Room.take(-int64(len(body)))
			h.JVMs(list)
		case frameState:
			var p fleet.Progress
			if err := json.Unmarshal(body, &p); err != nil {
				return err
			}
			h.Room.take(-int64(len(body)))
			h.State(p)
		case framePart, frameResult:
			res, err := fleet.Unpack(body)
			if err != nil {
				return err
			}
			of := res.Target
			h.Room.take(-parts[of]) // this one replaces it
			delete(parts, of)
			switch {
			case ended[of]:
				return fmt.Errorf("another result of process %d, which has one", of.PID)
			case kind == framePart:
				parts[of] = int64(len(body))
				h.Part(res)
			default:
				ended[of] = true
				h.Result(res)
			}
		case frameFailed:
			var f failure
			if err := json.Unmarshal(body, &f); err != nil {
				return err
			}
			return &Error{Check: f.Check, Cause: f.Cause, Fix: f.Fix}
		case frameAlive:
			h.Room.take(-int64(len(body)))
		default:
			return fmt.Errorf("a frame of kind %q", kind)
		}
	}
}

// mostHead bounds the line that a frame begins with.
const mostHead = 64

func readFrame(b *bufio.Reader, room *Room) (kind string, body []byte, err error) {
	line, err := b.ReadSlice('\n')
	if err != nil {
		if len(line) > 0 {
			err = fmt.Errorf("no frame: %q", line[:min(len(line), mostHead)])
		}
		return "", nil, err
	}
	var n int64
	if len(line) > mostHead {
		return "", nil, fmt.Errorf("no frame: %q", line[:mostHead])
	}
	if k, err := fmt.Sscanf(string(line), "%s %d\n", &kind, &n); k != 2 || err != nil || n < 0 || n > mostFrame {
		return "", nil, fmt.Errorf("no frame: %q", line)
	}
	if !room.take(n) {
		return "", nil, fmt.Errorf("%w: a frame of %d MB", ErrRoom, n>>20)
	}
	var buf bytes.Buffer // grows with what comes, not with what is announced
	if got, err := io.CopyN(&buf, b, n); err != nil {
		return "", nil, fmt.Errorf("a frame has %d bytes of %d: %v", got, n, err) // not an io.EOF
	}
	return kind, buf.Bytes(), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const mostTail = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > mostTail {
		t.b = append([]byte(nil), t.b[len(t.b)-mostTail:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "?")
}
