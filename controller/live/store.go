package live

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A store keeps snapshots in a folder, one file each: a gzip member without
// content, whose header has the [SnapshotInfo] as a subfield of its extra field
// (RFC 1952, 2.3.1.1), and after it the report as [export.Report.Snapshot]
// writes it, or a comparison's compressed JSON. So a list needs only the beginnings, and any reader of snapshots
// reads the file. Files that lack the first member are taken as well. Several
// servers may use one folder; each lists what was there when it began. The zero
// value keeps nothing.
type store struct{ dir string }

const (
	storeEnding = ".rivulet"
	infoField   = "RV" // of the extra field
	maxInfo     = 8 << 10
	maxListed   = 1000 // files that are looked at, the newest ones by their names
)

// A stored is a snapshot in the folder.
type stored struct {
	file string
	info SnapshotInfo
}

// list finds the newest snapshots, the oldest first; a folder that isn't there has none.
// What can't be read as one is left out.
func (s store) list() ([]stored, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	var out []stored
	for _, e := range slices.Backward(entries) {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), storeEnding) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := filepath.Join(s.dir, e.Name())
		info, err := readInfo(file)
		if err != nil {
			continue
		}
		if info.Name = cleanName(info.Name); info.Name == "" {
			info.Name = cleanName(strings.TrimSuffix(e.Name(), storeEnding))
		}
		if about, err := e.Info(); err == nil && info.When.IsZero() {
			info.When = about.ModTime()
		}
		out = append(out, stored{file, info})
		if len(out) == maxListed {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b stored) int { return cmp.Or(a.info.When.Compare(b.info.When), cmp.Compare(a.file, b.file)) })
	return out, nil
}

// write adds a snapshot and says in which file it is.
func (s store) write(info SnapshotInfo, content func(io.Writer) error) (file string, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", err
	}
	file = filepath.Join(s.dir, info.When.UTC().Format("20060102-150405-")+strings.ToLower(rand.Text()[:8])+storeEnding)
	return file, s.replace(file, info, content)
}

// rename writes a snapshot's file with other words about it.
func (s store) rename(file string, info SnapshotInfo) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rest := bufio.NewReader(f)
	z, err := gzip.NewReader(rest)
	if err != nil {
		return err
	}
	if infoOf(z.Extra) == nil { // it is content already
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		rest.Reset(f)
	} else {
		z.Multistream(false)
		if _, err := io.Copy(io.Discard, z); err != nil {
			return err
		}
	}
	return s.replace(file, info, func(w io.Writer) error {
		_, err := io.Copy(w, rest)
		return err
	})
}

// replace writes a file as a whole, for its owner alone.
func (s store) replace(file string, info SnapshotInfo, content func(io.Writer) error) error {
	temp, err := os.OpenFile(filepath.Join(s.dir, "."+rand.Text()+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // nothing, when it has been moved
	w := bufio.NewWriterSize(temp, 1<<16)
	err = errors.Join(writeInfo(w, info), content(w))
	if err = errors.Join(err, w.Flush(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

func writeInfo(w io.Writer, info SnapshotInfo) error {
	text, err := json.Marshal(info)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	z.Extra = binary.LittleEndian.AppendUint16([]byte(infoField), uint16(len(text)))
	z.Extra = append(z.Extra, text...)
	return z.Close()
}

func readInfo(file string) (info SnapshotInfo, err error) {
	f, err := os.Open(file)
	if err != nil {
		return info, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return info, err
	}
	if text := infoOf(z.Extra); text != nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

// infoOf finds the subfield; nil if there is none.
func infoOf(extra []byte) []byte {
	for len(extra) >= 4 {
		name, n := string(extra[:2]), int(binary.LittleEndian.Uint16(extra[2:]))
		if n > len(extra)-4 {
			return nil
		}
		if name == infoField && n <= maxInfo {
			return extra[4 : 4+n]
		}
		extra = extra[4+n:]
	}
	return nil
}

// read reads a snapshot of a recording.
func (s store) read(file string) (*export.Report, error) {
	k, err := s.readAny(file)
	if err == nil && k.Report == nil {
		err = fmt.Errorf("%w: it is a comparison of schemes", export.ErrNotReport)
	}
	return k.Report, err
}

func (s store) readAny(file string) (export.Saved, error) {
	f, err := os.Open(file)
	if err != nil {
		return export.Saved{}, err
	}
	defer f.Close()
	return export.ReadSaved(f)
}

const comparisonKind = "comparison" // of a snapshot

// at is when a snapshot was taken, in whole milliseconds, so that it is the
// same when it is read again.
func at(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
