package jfr_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// TestCutChunk reads the only chunk of a recording, of which the end is missing: what stands
// before the cut as in the whole one, and then the error that says what is missing.
func TestCutChunk(t *testing.T) {
	for name, packed := range map[string]bool{"compressed": true, "fixed": false} {
		t.Run(name, func(t *testing.T) {
			// As after a flush: events, pools and types, and then more events.
			whole := small(packed)
			events := whole[68:binary.BigEndian.Uint64(whole[16:])]
			long := append(whole, events...)
			binary.BigEndian.PutUint64(long[8:], uint64(len(long)))
			all, err := read(long)
			if err != nil || strings.Count(all, `"type":`) != 4 {
				t.Fatalf("whole: %v\n%s", err, all)
			}
			seen := map[int]bool{}
			for n := len(whole) - len(events); n < len(long); n++ {
				got, err := read(long[:n])
				var f *jfr.FormatError
				if !errors.Is(err, jfr.ErrCut) || !errors.As(err, &f) || f.Offset != int64(n) {
					t.Fatalf("cut at %d of %d: %v", n, len(long), err)
				}
				got = strings.TrimSuffix(strings.TrimSpace(got), "]}}")
				if !strings.HasPrefix(all, strings.TrimSpace(got)) {
					t.Fatalf("cut at %d of %d: got\n%s", n, len(long), got)
				}
				of := strings.Count(got, `"type":`)
				if n >= len(whole) && of < 2 {
					t.Errorf("cut at %d of %d: %d events", n, len(long), of)
				}
				seen[of] = true
			}
			if !seen[0] || !seen[2] || !seen[3] {
				t.Errorf("numbers of events read: %v", seen)
			}
		})
	}
}
