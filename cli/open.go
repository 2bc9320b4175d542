package cli

import (
	"io"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// with opens a command's output, before anything is done to a target, and
// watches for signals while the command is at work.
func (a *app) with(file string, stream io.Writer, do func(in *interrupts, out *output) error) error {
	out, err := openOutput(file, stream)
	if err != nil {
		return err
	}
	defer out.discard()
	in := watchInterrupts()
	defer in.stop()
	return do(in, out)
}

// attach opens a session and says what the user should know before.
func (a *app) attach(in *interrupts, pid int, cfg session.Config) (attached, error) {
	s, err := a.backend.attach(in.first, pid, cfg)
	return s, interrupted(in, err)
}

// attachShown also shows the session's progress, until the meter is stopped.
func (a *app) attachShown(in *interrupts, pid int, cfg session.Config) (attached, *meter, error) {
	s, err := a.attach(in, pid, cfg)
	if err != nil {
		return nil, nil, err
	}
	return s, startMeter(a.stderr, s.Progress), nil
}

func (a *app) config(memory int64) session.Config {
	return session.Config{Log: a.log(), Memory: memory, FullHeap: a.fullHeap, LittleMemory: a.littleMemory, Warn: func(text string) { a.say("%s", oneLine(text)) }}
}

// writeReport writes a report in a form, by default the one that the file's name
// says, else text.
func writeReport(r *export.Report, o *output, format string, options export.FormatOptions) error {
	f, err := o.format(format)
	if err != nil {
		return err
	}
	fit := textOptions(o.w)
	options.Text.Color, options.Text.Width = fit.Color, fit.Width
	return o.write(func(w io.Writer) error { return f.Write(r, w, options) })
}

// textOptions fit a stream: colours and cut lines are for terminals.
func textOptions(stream any) export.TextOptions {
	o := export.TextOptions{Color: hasColor(stream)}
	if isTerminal(stream) {
		o.Width = columns(stream)
	}
	return o
}

// format is the form that a report is written in.
func (o *output) format(name string) (export.Format, error) {
	f, ok := export.FormatNamed(name)
	if name == "" {
		if f, ok = export.FormatOf(o.name); !ok {
			f, ok = export.FormatNamed("text")
		}
	}
	switch {
	case !ok:
		return f, checkFormat(name)
	case f.Binary && isTerminal(o.w):
		return f, usage("--format %s is nothing for a terminal; give a file with -o", f.Name)
	}
	return f, nil
}

// checkFormat looks at a form's name; "" is fine.
func checkFormat(name string) error {
	if _, ok := export.FormatNamed(name); ok || name == "" {
		return nil
	}
	return usage("--format %q: there is only %s", name, enumerate(export.FormatNames()))
}
