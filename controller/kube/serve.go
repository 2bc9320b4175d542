package kube

import (
	"bufio"
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

// A Worker is the side in the pod of what [Talk] says. Several goroutines may use it.
type Worker struct {
	Request Request
	First   context.Context // done when it is to end and report, or nobody talks to it any more
	Second  context.Context // done when it is not to wait for the target

	mu  sync.Mutex
	out io.Writer
	err error // of writing
}

// ErrSilent is why First of a worker is done when nobody is there to whom it could send anything.
var ErrSilent = errors.New("nobody is at the other end any more")

// Serve reads a request and returns a worker for it, which ends when ctx does, or when the other end says so or has gone. It never gives
// in back: the caller exits afterwards.
func Serve(ctx context.Context, in io.Reader, out io.Writer, lost time.Duration) (*Worker, error) {
	first, endFirst := context.WithCancelCause(ctx)
	second, endSecond := context.WithCancelCause(ctx)
	w := &Worker{First: first, Second: second, out: out}
	words := make(chan string)
	b := bufio.NewReaderSize(in, 1<<16)
	line, err := b.ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &w.Request)
	}
	if err != nil {
		endFirst(nil)
		endSecond(nil)
		return nil, fmt.Errorf("this command is for rivulet kube; there was no request: %w", err)
	}
	go func() { // ends with the input, or with the process
		defer close(words)
		for {
			word, err := b.ReadString('\n')
			if err != nil {
				return
			}
			words <- strings.TrimSpace(word)
		}
	}()
	go func() {
		silence := time.NewTimer(lost)
		beat := time.NewTicker(AliveEach)
		defer beat.Stop()
		for {
			select {
			case word, more := <-words:
				silence.Reset(lost)
				switch {
				case !more:
					endFirst(ErrSilent)
					return
				case word == wordStop:
					endFirst(nil)
				case word == wordQuit:
					endFirst(nil)
					endSecond(nil)
				}
			case <-silence.C:
				endFirst(ErrSilent)
			case <-beat.C:
				w.frame(frameAlive, nil)
			case <-second.Done():
				endFirst(nil)
				return
			}
		}
	}()
	return w, nil
}

// frame writes a frame. When nobody reads any more the worker can do nothing but end, which it does for other reasons.
func (w *Worker) frame(kind string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	_, w.err = w.out.Write(fmt.Appendf(nil, "%s %d\n", kind, len(body)))
	if w.err == nil && len(body) > 0 {
		_, w.err = w.out.Write(body)
	}
}

func (w *Worker) json(kind string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	w.frame(kind, body)
}

// JVMs says which JVMs will have a result.
func (w *Worker) JVMs(list []fleet.JVM) { w.json(frameJVMs, list) }

// State says how far it is with a JVM.
func (w *Worker) State(p fleet.Progress) { w.json(frameState, p) }

// Fail says why nothing can be done.
func (w *Worker) Fail(err error) {
	f := failure{Cause: err.Error()}
	var known *Error
	if errors.As(err, &known) {
		f = failure{known.Check, known.Cause, known.Fix}
	}
	w.json(frameFailed, f)
}

// Part sends a report so far, Result the end of one JVM; the report may be nil.
func (w *Worker) Part(h fleet.Head, report []byte) error { return w.send(framePart, h, report) }

// Result sends what came of a JVM.
func (w *Worker) Result(h fleet.Head, report []byte) error { return w.send(frameResult, h, report) }

func (w *Worker) send(kind string, h fleet.Head, report []byte) error {
	h.Schema = fleet.Schema
	h.Seal(report)
	message, err := fleet.Pack(&h, report)
	if err == nil {
		w.frame(kind, message)
	}
	return err
}
