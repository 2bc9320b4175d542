// Package ring keeps samples of a JVM on disk, in files by time, the oldest of which are
// removed: what a sampler saw of the last hour, say, in bounded room.
//
// A [Writer] appends chunks to one file after another. A chunk stands for itself: it has the names
// of its methods, and a checksum. So a file that was cut off by a crash, or has a damaged
// chunk, loses that chunk alone, a range of time can be read from its middle, and a
// copy of some chunks is a file again. Nothing that was written is ever changed.
//
// The format is on the page docs/formats-samples.md. Files are input like any other: what is
// read is checked, and every size is bounded.
//
// A Writer and a Reader are not safe for concurrent use. A Reader may read what a Writer of
// another process is writing.
package ring

import "errors"

// Errors that a caller can tell apart.
var (
	// ErrFormat marks bytes that are no file of samples, or a damaged one.
	ErrFormat = errors.New("not a file of samples")
	// ErrVersion marks a file of another version.
	ErrVersion = errors.New("a file of samples of another version")
)

// magic begins each file: the last byte is the version.
const magic = "RVSAMPL\x01"

// Bounds of what is written and read.
const (
	mostHeader = 1 << 16 // bytes of a header
	mostChunk  = 8 << 20 // bytes of a chunk before it is packed
	mostPacked = mostChunk + 1<<16
	mostFrames = 8192 // of one stack
	mostText   = 1 << 16
	mostMade   = 1 << 20 // frames of a chunk, those counted once that a thread's next sample shares whole
	fullChunk  = 1 << 18 // bytes at which a chunk is written
	fullMade   = 1 << 18 // frames at which one is
)

// A Header says whose samples a file has, and how they were taken. It is JSON in the file.
type Header struct {
	PID      int    `json:"pid"`
	Start    uint64 `json:"start"` // when the process was started, as /proc/PID/stat has it: with PID, it names the process
	Java     string `json:"java"`
	VM       string `json:"vm"`
	Main     string `json:"main"`
	Source   string `json:"source"` // "perf" and so on
	Mode     string `json:"mode"`   // "cpu" or "wall"
	Hz       int    `json:"hz"`
	Skewed   bool   `json:"skewed"`    // the JVM has debug information at calls only
	Physical bool   `json:"physical"`  // self time of inlined methods is the compiled method's
	NoKernel bool   `json:"no_kernel"` // no samples while a thread is in the kernel
	Wall     int64  `json:"wall_ns"`   // the time of day at the moment Mono, ns since 1970
	Mono     int64  `json:"mono_ns"`   // CLOCK_MONOTONIC ns
}

// Clock is the time of day, in ns since 1970, of a moment on CLOCK_MONOTONIC.
func (h *Header) Clock(mono int64) int64 { return h.Wall + mono - h.Mono }

// A Span is a piece of time, CLOCK_MONOTONIC ns.
type Span struct{ From, Until int64 }
