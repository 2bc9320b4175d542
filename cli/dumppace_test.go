package cli

import (
	"testing"
	"time"
)

// TestDumpPace: quick dumps are taken as often as asked for, slow ones for a twentieth of the time at the most, unless that was
// asked for.
func TestDumpPace(t *testing.T) {
	p := dumpPace{hz: 10}
	for range 1000 {
		if rest := p.rest(time.Millisecond); rest < 50*time.Millisecond || rest >= 150*time.Millisecond {
			t.Fatal(rest)
		}
	}
	if p.note() != "" {
		t.Error(p.note())
	}
	if rest := p.rest(60 * time.Millisecond); rest != 1140*time.Millisecond || p.note() == "" {
		t.Error(rest, p.note())
	}
	strict := dumpPace{hz: 10, strict: true}
	if rest := strict.rest(60 * time.Millisecond); rest >= 150*time.Millisecond || strict.note() != "" {
		t.Error(rest, strict.note())
	}
}
