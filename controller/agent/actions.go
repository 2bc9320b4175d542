package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// errEnding is what a script gets that wants something while the recording ends.
var errEnding = errors.New("the recording ends")

type function = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// leastEvery is the shortest time between activations by time.
const leastEvery = 10 * time.Millisecond

// addHandlers adds the functions with which a script says when it is to be activated.
func (s *script) addHandlers(add func(string, function)) {
	on := func(name string, h func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (*handler, error)) {
		add(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if !s.loading {
				return nil, fmt.Errorf("%s: only at the top level of the script", name)
			}
			made, err := h(b, args, kw)
			if err != nil {
				return nil, err
			}
			s.handlers = append(s.handlers, made)
			return starlark.None, nil
		})
	}
	for _, kind := range []string{onStart, onEnd} {
		on("on_"+kind, func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (*handler, error) {
			h := &handler{kind: kind}
			return h, starlark.UnpackArgs(b.Name(), args, kw, "function", &h.do)
		})
	}
	on("on_time", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (*handler, error) {
		h := &handler{kind: onTime}
		var seconds float
		if err := starlark.UnpackArgs(b.Name(), args, kw, "function", &h.do, "seconds", &seconds); err != nil {
			return nil, err
		}
		if h.every = time.Duration(float64(seconds) * float64(time.Second)); h.every < leastEvery || seconds > 1e6 {
			return nil, fmt.Errorf("on_time: %v seconds; from %v on", seconds, leastEvery.Seconds())
		}
		return h, nil
	})
	on("on_bytecodes", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (*handler, error) {
		h := &handler{kind: onBytecodes, counted: map[threadKey]int64{}, each: map[threadKey]int64{}}
		if err := starlark.UnpackArgs(b.Name(), args, kw, "function", &h.do, "count", &h.count); err != nil {
			return nil, err
		}
		if h.count < 1 {
			return nil, errors.New("on_bytecodes: give a count above zero")
		}
		return h, nil
	})
	on("on_exit", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (*handler, error) {
		h := &handler{kind: onExit}
		var ms float
		if err := starlark.UnpackArgs(b.Name(), args, kw, "function", &h.do, "over_ms?", &ms, "exact?", &h.exact); err != nil {
			return nil, err
		}
		if h.over = time.Duration(float64(ms) * float64(time.Millisecond)); h.over < 0 || ms > 1e9 {
			return nil, errors.New("on_exit: over_ms is a time from 0 on")
		}
		return h, nil
	})
}

// A float is a number of either kind.
type float float64

// Unpack implements starlark.Unpacker.
func (f *float) Unpack(v starlark.Value) error {
	x, ok := starlark.AsFloat(v)
	if !ok || math.IsNaN(x) {
		return fmt.Errorf("got %s, want a number", v.Type())
	}
	*f = float(x)
	return nil
}

// addActions adds what a script can do during an activation.
func (s *script) addActions(add func(string, function)) {
	during := func(name string, f func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error) {
		add(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			if s.now == nil {
				return nil, fmt.Errorf("%s: only in a function that is called for an activation", name)
			}
			return starlark.None, f(b, args, kw)
		})
	}
	for _, name := range []string{"write", "append"} {
		during(name, func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
			var file, text string
			if err := starlark.UnpackArgs(b.Name(), args, kw, "file", &file, "text", &text); err != nil {
				return err
			}
			return s.folder.write(file, text, name == "append")
		})
	}
	during("emit", s.emit)
	during("mark", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var text string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "text", &text); err != nil {
			return err
		}
		s.mu.Lock()
		s.marks++
		s.mu.Unlock()
		s.host.mark(export.Clean(s.Name + ": " + text))
		return nil
	})
	during("snapshot", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var name string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "name", &name); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := s.now.now.report.JSON(&out, export.JSONOptions{}); err != nil {
			return err
		}
		return s.folder.write(strings.TrimSuffix(name, ".json")+".json", out.String(), false)
	})
	during("stop", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var why string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "why?", &why); err != nil {
			return err
		}
		text := "stopped by agent " + s.Name
		if why != "" {
			text += ": " + why
		}
		s.host.stop(export.Clean(text))
		return nil
	})
	for _, name := range []string{"pause", "resume", "reset"} {
		during(name, func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
			if err := starlark.UnpackArgs(b.Name(), args, kw); err != nil {
				return err
			}
			return s.steer(name, "")
		})
	}
	during("clock", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var clock string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "clock", &clock); err != nil {
			return err
		}
		return s.steer("clock", clock)
	})
	during("mode", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var pattern, mode string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "pattern", &pattern, "mode", &mode); err != nil {
			return err
		}
		return s.steer("mode", pattern+"="+mode)
	})
	during("exclude", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var pattern string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "pattern", &pattern); err != nil {
			return err
		}
		return s.steer("mode", pattern+"=off")
	})
	during("include", func(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
		var pattern string
		if err := starlark.UnpackArgs(b.Name(), args, kw, "pattern", &pattern); err != nil {
			return err
		}
		return s.steer("mode", pattern+"="+s.now.now.report.Clock)
	})
}

// steer changes the recording.
func (s *script) steer(action, value string) error {
	if s.now.cause.reason == onEnd {
		return fmt.Errorf("%s: the recording has ended", action)
	}
	return s.host.steer(s.ctx, action, value)
}

// emit has a metric's value, for whoever asks the page's server, and in a file.
func (s *script) emit(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
	var name, help string
	kind := "gauge"
	var value float
	labels := new(starlark.Dict)
	if err := starlark.UnpackArgs(b.Name(), args, kw, "name", &name, "value", &value, "labels?", &labels, "help?", &help, "kind?", &kind); err != nil {
		return err
	}
	var list []label
	plain := map[string]string{}
	for k, v := range labels.Entries() {
		key, ok1 := starlark.AsString(k)
		text, ok2 := starlark.AsString(v)
		if !ok1 || !ok2 {
			return fmt.Errorf("emit: labels are strings, not %s: %s", k.Type(), v.Type())
		}
		list = append(list, label{key, export.Clean(text)})
		plain[key] = export.Clean(text)
	}
	if err := s.host.cfg.Metrics.set(name, kind, help, list, float64(value)); err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	line := struct {
		Time    time.Time         `json:"time"`
		Seconds float64           `json:"seconds"`
		Name    string            `json:"name"`
		Labels  map[string]string `json:"labels,omitempty"`
		Value   any               `json:"value"`
	}{time.Now().UTC(), s.now.now.report.Time.Seconds(), name, plain, float64(value)}
	if math.IsInf(float64(value), 0) || math.IsNaN(float64(value)) {
		line.Value = number(float64(value))
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return s.folder.write(MetricsFile, string(text)+"\n", true)
}

// MetricsFile is the file in a script's folder that has what it emits, a line of JSON each.
const MetricsFile = "metrics.jsonl"
