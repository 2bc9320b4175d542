package attach

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// A ClassCount is what the instances of a class take.
type ClassCount struct {
	Class   string `json:"class"` // as in Java source: "java.lang.String[]"
	Objects int64  `json:"objects"`
	Bytes   int64  `json:"shallow_bytes"`
}

// A Histogram is what fills a heap, by class.
type Histogram struct {
	Classes []ClassCount // what takes most bytes first
	Objects int64
	Bytes   int64
	Took    time.Duration
	Stopped time.Duration // of all threads, by the JVM's own count; -1 if it has none
}

// Histogram has the JVM count its objects: with all, dead ones too, otherwise after a full
// collection. All threads stand still meanwhile. Classes of the same name and different
// loaders are added up.
func (vm *VM) Histogram(ctx context.Context, all bool) (*Histogram, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DumpTimeout)
		defer cancel()
	}
	mode := "-live"
	if all {
		mode = "-all"
	}
	before, beforeOK := safepointTime(vm.proc.PID)
	began := time.Now()
	text, err := vm.command(ctx, "inspectheap", mode)
	if err != nil {
		return nil, err
	}
	h := parseHistogram(text)
	h.Took, h.Stopped = time.Since(began), -1
	if after, ok := safepointTime(vm.proc.PID); ok && beforeOK {
		h.Stopped = after - before
	}
	if len(h.Classes) == 0 {
		return nil, &Error{PID: vm.proc.PID, Kind: ErrRejected, Cause: "the JVM gave no histogram: " + oneLine(text)}
	}
	return h, nil
}

// parseHistogram reads lines such as "   1:  9527  1218496  [B (java.base@17.0.15)".
func parseHistogram(text string) *Histogram {
	h := &Histogram{}
	at := map[string]int{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		objects, err1 := strconv.ParseInt(f[1], 10, 64)
		bytes, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		h.Objects += objects
		h.Bytes += bytes
		name := sourceName(f[3])
		if i, ok := at[name]; ok {
			h.Classes[i].Objects += objects
			h.Classes[i].Bytes += bytes
			continue
		}
		at[name] = len(h.Classes)
		h.Classes = append(h.Classes, ClassCount{name, objects, bytes})
	}
	return h
}

var primitives = map[byte]string{'Z': "boolean", 'C': "char", 'F': "float", 'D': "double", 'B': "byte", 'S': "short", 'I': "int", 'J': "long"}

// sourceName turns "[[Ljava.lang.String;" into "java.lang.String[][]".
func sourceName(name string) string {
	dims := 0
	for dims < len(name) && name[dims] == '[' {
		dims++
	}
	base := name[dims:]
	if dims == 0 || base == "" {
		return name
	}
	if p, ok := primitives[base[0]]; ok && len(base) == 1 {
		base = p
	} else {
		base = strings.TrimSuffix(strings.TrimPrefix(base, "L"), ";")
	}
	return base + strings.Repeat("[]", dims)
}
