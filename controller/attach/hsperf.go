package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The hsperfdata format, version 2 (jdk.internal.perf, perfMemory.hpp). A
// prologue of 32 bytes, then entries, in the byte order that byte 4 names:
//
//	 0 u4 magic CA FE C0 C0    4 u1 0 big, 1 little endian   5 u1 major   6 u1 minor
//	 7 u1 accessible           8 i4 used                    12 i4 overflow
//	16 i8 modification time   24 i4 offset of first entry   28 i4 number of entries
//
// An entry: i4 length, i4 name offset, i4 vector length (0: scalar), u1 type
// ('J' long, 'B' byte), u1 flags, u1 units, u1 variability, i4 data offset;
// offsets count from the start of the entry. Vectors of bytes are strings.
const (
	perfPrologue = 32
	perfEntry    = 20
	perfMax      = 4 << 20 // bytes read; HotSpot's default size is 32 KB
)

// errPerfNotReady says that the JVM has not opened its counters for reading.
var errPerfNotReady = errors.New("hsperfdata is not accessible yet")

// A PerfError reports hsperfdata that breaks its format.
type PerfError struct {
	Offset int // of the bad structure
	What   string
}

func (e *PerfError) Error() string { return fmt.Sprintf("hsperfdata: offset %d: %s", e.Offset, e.What) }

// parsePerf decodes hsperfdata. Values are int64 or string. Entries of types
// that HotSpot does not write are passed over.
func parsePerf(b []byte) (map[string]any, error) {
	values := map[string]any{}
	err := eachCounter(b, func(name string, kind byte, vector, _ int, data []byte, order binary.ByteOrder) {
		switch {
		case kind == 'J' && vector == 0 && len(data) >= 8:
			values[name] = int64(order.Uint64(data))
		case kind == 'B' && vector > 0 && vector <= len(data):
			values[name] = cString(data[:vector])
		}
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// eachCounter goes through the entries; data begins at offset at of b and ends
// with its entry.
func eachCounter(b []byte, f func(name string, kind byte, vector, at int, data []byte, order binary.ByteOrder)) error {
	if len(b) < perfPrologue {
		return &PerfError{0, fmt.Sprintf("%d bytes, shorter than the prologue", len(b))}
	}
	if !bytes.Equal(b[:4], []byte{0xca, 0xfe, 0xc0, 0xc0}) {
		return &PerfError{0, fmt.Sprintf("bad magic %x", b[:4])}
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[4] == 0 {
		order = binary.BigEndian
	}
	if b[5] != 2 {
		return &PerfError{5, fmt.Sprintf("unknown version %d", b[5])}
	}
	if b[7] == 0 {
		return errPerfNotReady
	}
	i4 := func(at int) int { return int(int32(order.Uint32(b[at:]))) }
	at, n := i4(24), i4(28)
	if n < 0 || n > len(b)/perfEntry {
		return &PerfError{28, fmt.Sprintf("%d entries do not fit", n)}
	}
	for range n {
		if at < perfPrologue || at > len(b)-perfEntry {
			return &PerfError{at, "entry outside the file"}
		}
		size := i4(at)
		if size < perfEntry || size > len(b)-at {
			return &PerfError{at, fmt.Sprintf("entry of %d bytes", size)}
		}
		nameAt, vector, kind, dataAt := i4(at+4), i4(at+8), b[at+12], i4(at+16)
		if nameAt < perfEntry || nameAt >= size || dataAt < perfEntry || dataAt >= size {
			return &PerfError{at, "name or data outside the entry"}
		}
		f(cString(b[at+nameAt:at+size]), kind, vector, at+dataAt, b[at+dataAt:at+size], order)
		at += size
	}
	return nil
}

// cString returns the bytes before the first NUL.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// readPerf reads the counters of a process whose maps show m. Which file that
// is, m knows best: names under /tmp/hsperfdata_* may be left from a process
// that had the number before. A file deleted by a cleaner of /tmp is read from
// the target's memory.
func readPerf(pid int, m mapping) (map[string]any, error) {
	if m.path == "" {
		return nil, os.ErrNotExist
	}
	b, err := readPerfFile(pid, m)
	if err != nil {
		if b, err = readMemory(pid, m); err != nil {
			return nil, err
		}
	}
	return parsePerf(b)
}

func readPerfFile(pid int, m mapping) ([]byte, error) {
	if m.deleted {
		return nil, os.ErrNotExist
	}
	f, err := openInRoot(pid, m.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, perfMax))
}

func readMemory(pid int, m mapping) ([]byte, error) {
	f, err := os.Open(procFile(pid, "mem"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, int64(m.start), int64(min(m.end-m.start, perfMax))))
}

// Counters returns the performance counters that a JVM publishes, by name, such
// as "sun.gc.collector.0.invocations"; times are in ticks of
// "sun.os.hrt.frequency". Values are int64 or string. The error matches
// os.ErrNotExist if the JVM publishes none (-XX:-UsePerfData).
func Counters(pid int) (map[string]any, error) {
	l, err := readLayout(pid)
	if err != nil {
		return nil, err
	}
	values, err := readPerf(pid, l.perf)
	if err != nil {
		return nil, fmt.Errorf("pid %d: counters: %w", pid, err)
	}
	return values, nil
}

// Interprets tells whether a JVM with these counters compiles nothing (-Xint). It may be called concurrently.
func Interprets(counters map[string]any) bool {
	info, _ := counters["java.property.java.vm.info"].(string)
	return strings.HasPrefix(info, "interpreted")
}

// LoadedClasses is how many classes a JVM with these counters has loaded, 0 if they don't tell. It may be called concurrently.
func LoadedClasses(counters map[string]any) (n int64) {
	for name, sign := range map[string]int64{"java.cls.loadedClasses": 1, "java.cls.sharedLoadedClasses": 1, "java.cls.unloadedClasses": -1, "java.cls.sharedUnloadedClasses": -1} {
		v, _ := counters[name].(int64)
		n += sign * v
	}
	return n
}
