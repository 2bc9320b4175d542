package job

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// ErrTaken is a job that another worker carries out, or has carried out.
var ErrTaken = errors.New("another worker has this job")

// A Worker is the process that carries a job out.
type Worker struct {
	Dir
	lock *os.File
}

// Take makes the caller the job's worker; [ErrTaken] if there was one before. The lock
// goes with [Worker.Release], or with the process.
func Take(d Dir) (*Worker, error) {
	f, err := os.OpenFile(d.file(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// A node that looks at the lock holds it for an instant.
	for tries := 0; ; tries++ {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || tries == 50 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrTaken
	}
	if _, begun := d.Begun(); err == nil && begun {
		err = ErrTaken
	}
	if err == nil {
		err = writeFile(d.file(begunFile), []byte(strconv.Itoa(os.Getpid())))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Worker{d, f}, nil
}

// Begin marks that it is recording.
func (w *Worker) Begin() error { return writeFile(w.file(markFile), nil) }

// Keep has a report for the case that this process dies before the end.
func (w *Worker) Keep(r *export.Report) error {
	var b bytes.Buffer
	if err := r.Snapshot(&b); err != nil {
		return err
	}
	return writeFile(w.file(partialFile), b.Bytes())
}

// Done ends the job with a report, an error, or both.
func (w *Worker) Done(r *export.Report, failed error) error {
	e := End{At: time.Now()}
	if failed != nil {
		e.Error = failed.Error()
	}
	if r != nil {
		var b bytes.Buffer
		err := r.Snapshot(&b)
		if err == nil {
			err = writeFile(w.file(reportFile), b.Bytes())
		}
		if err != nil {
			e.Error = "the report could not be kept: " + err.Error()
		}
	}
	return w.Finish(e)
}

// DoneJSON ends the job with a value that is no report, which is nil if there is none, an
// error, or both.
func (w *Worker) DoneJSON(v any, failed error) error {
	e := End{At: time.Now()}
	if failed != nil {
		e.Error = failed.Error()
	}
	if v != nil {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		err := errors.Join(json.NewEncoder(z).Encode(v), z.Close())
		if err == nil {
			err = writeFile(w.file(reportFile), b.Bytes())
		}
		if err != nil {
			e.Error = "the answer could not be kept: " + err.Error()
		}
	}
	return w.Finish(e)
}

// Release lets the job go; it can't be taken again.
func (w *Worker) Release() { w.lock.Close() }
