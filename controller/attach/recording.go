package attach

import (
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// An EventSetting says what Flight Recorder is to record of one event, by the names that
// JFR's settings files have: "threshold": "10 ms", "period": "20 ms", "stackTrace": "true".
type EventSetting struct {
	Event    string // "jdk.JavaMonitorEnter"
	Settings map[string]string
}

// A Recording is one of Flight Recorder in a JVM. Stop or Remove must be called; Remove in any case.
type Recording struct {
	vm      *VM
	name    string
	folder  dumpFolder
	stopped bool

	File *os.File // after Stop: open for reading
	Size int64    // of the file in bytes
}

// Name is what the JVM calls the recording. Any goroutine may ask at any time.
func (r *Recording) Name() string { return r.name }

// guard is how much longer than asked for a recording may last if nobody stops it.
const guard = time.Minute

// mostRecorded is what a recording may keep on the target's disk.
const mostRecorded = "250m"

// StartRecording has a JVM record events, those that are given and no others, unless other
// recordings are on: JFR writes what any of them wants. The JVM ends it by
// itself a minute after length, whatever becomes of this process.
//
// A JVM in which JFR was never used loads it (docs/jfr.md says what that costs). It
// keeps an empty folder in its /tmp until it ends, and two threads. The error matches
// ErrRejected where there is no JFR.
func (vm *VM) StartRecording(ctx context.Context, events []EventSetting, length time.Duration) (*Recording, error) {
	return vm.startRecording(ctx, events, length)
}

// StartRecordingToExit is [VM.StartRecording], and has a JVM that exits before write what it has
// recorded: see [Recording.Left].
func (vm *VM) StartRecordingToExit(ctx context.Context, events []EventSetting, length time.Duration) (*Recording, error) {
	return vm.startRecording(ctx, events, length, "dumponexit=true")
}

func (vm *VM) startRecording(ctx context.Context, events []EventSetting, length time.Duration, more ...string) (r *Recording, err error) {
	r = &Recording{vm: vm, name: "rivulet-" + rand.Text()[:12]}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.folder.remove())
			r = nil
		}
	}()
	if err := r.folder.make(vm.proc, "/tmp", recordingPrefix); err != nil {
		return r, err
	}
	if err := r.folder.write(vm.proc, settingsName, settingsFile(events)); err != nil {
		return r, err
	}
	// Without a name for the file, some JDKs write one into the JVM's working folder.
	words := []string{
		"JFR.start", "name=" + r.name, "settings=" + path.Join(r.folder.target(), settingsName),
		"maxsize=" + mostRecorded, "filename=" + path.Join(r.folder.target(), recordingName), fmt.Sprintf("duration=%ds", int((length + guard).Seconds())),
	}
	_, err = vm.jfr(ctx, append(words, more...)...)
	return r, err
}

const (
	settingsName  = "settings.jfc"
	recordingName = "recording.jfr"
)

// jfr executes a command of Flight Recorder. JVMs answer 0 even if it failed.
func (vm *VM) jfr(ctx context.Context, words ...string) (string, error) {
	text, err := vm.command(ctx, "jcmd", strings.Join(words, " "))
	if err != nil {
		var e *Error
		if errors.As(err, &e) && errors.Is(err, ErrRejected) {
			e.Fix = recorderFix
		}
		return "", err
	}
	if !slices.ContainsFunc([]string{"Started recording", "Stopped recording", "Dumped recording"}, func(s string) bool { return strings.Contains(text, s) }) {
		return "", &Error{PID: vm.proc.PID, Kind: ErrRejected, Cause: fmt.Sprintf("the JVM did not do %s: %s", words[0], oneLine(text))}
	}
	return text, nil
}

// CanRecord tells whether the JVM has Flight Recorder, without having it loaded. The error matches
// ErrRejected if not. A JVM may still refuse, as one whose image lacks the module jdk.jfr.
func (vm *VM) CanRecord(ctx context.Context) error {
	text, err := vm.command(ctx, "jcmd", "help")
	if err != nil {
		return err
	}
	flags, err := vm.Flags(ctx)
	if err != nil {
		return err
	}
	f := flags["FlightRecorder"] // off until it is used, unless somebody says so
	if !strings.Contains(text, "JFR.start") || f.Value == "false" && f.Origin == "command line" {
		return &Error{PID: vm.proc.PID, Kind: ErrRejected, Cause: "the JVM has no Flight Recorder", Fix: recorderFix}
	}
	return nil
}

const recorderFix = "Flight Recorder is in OpenJDK 8u262 and later; look for -XX:-FlightRecorder among the JVM's options"

// Stop ends the recording and opens what was recorded.
func (r *Recording) Stop(ctx context.Context) error {
	if _, err := r.vm.jfr(ctx, "JFR.stop", "name="+r.name); err != nil {
		return err
	}
	r.stopped = true
	var err error
	r.File, r.Size, err = r.folder.open(recordingName)
	return err
}

// Left opens what a JVM has written that has exited. The error matches ErrRejected if it has written nothing, as where
// somebody else has ended the recording.
func (r *Recording) Left() (err error) {
	r.stopped = r.vm.Alive() != nil
	if r.File, r.Size, err = r.folder.open(recordingName); err != nil || r.Size > 0 {
		return err
	}
	r.File.Close()
	r.File = nil
	return &Error{PID: r.vm.proc.PID, Kind: ErrRejected, Cause: "the JVM has kept nothing of the recording"}
}

// Remove closes and removes the recording with its folder. If it was not stopped, it is
// now, and what was recorded is lost.
func (r *Recording) Remove(ctx context.Context) error {
	if r == nil {
		return nil
	}
	var err error
	if !r.stopped {
		_, err = r.vm.jfr(ctx, "JFR.stop", "name="+r.name)
		r.stopped = true
	}
	if r.File != nil {
		r.File.Close()
	}
	return errors.Join(err, r.folder.remove())
}

type (
	jfcFile struct {
		XMLName xml.Name   `xml:"configuration"`
		Version string     `xml:"version,attr"`
		Label   string     `xml:"label,attr"`
		Events  []jfcEvent `xml:"event"`
	}
	jfcEvent struct {
		Name     string       `xml:"name,attr"`
		Settings []jfcSetting `xml:"setting"`
	}
	jfcSetting struct {
		Name  string `xml:"name,attr"`
		Value string `xml:",chardata"`
	}
)

// settingsFile is the text of a settings file, in the form that all JDKs read.
func settingsFile(events []EventSetting) []byte {
	f := jfcFile{Version: "2.0", Label: "Rivulet"}
	for _, e := range events {
		out := jfcEvent{Name: e.Event, Settings: []jfcSetting{{"enabled", "true"}}}
		for name, value := range e.Settings {
			out.Settings = append(out.Settings, jfcSetting{name, value})
		}
		slices.SortFunc(out.Settings, func(a, b jfcSetting) int { return strings.Compare(a.Name, b.Name) })
		f.Events = append(f.Events, out)
	}
	b, err := xml.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err) // texts only
	}
	return append([]byte(xml.Header), b...)
}
