package pauses

import (
	"testing"
	"time"
)

// TestPace plays JVMs whose pause is a fixed time and so much a class: the batch
// must come to what the longest pause allows, and one bad pause must not undo it.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		name         string
		java         int
		fixed, class time.Duration
		least, most  int // classes in a batch in the end
	}{
		{"JDK 8", 8, 2 * time.Millisecond, 1600 * time.Microsecond, 10, 24},
		{"slow", 11, time.Millisecond, 10 * time.Millisecond, leastBatch, leastBatch},
		{"JDK 17", 17, 8 * time.Millisecond, 12 * time.Microsecond, mostBatch, mostBatch},
		{"busy", 25, 60 * time.Millisecond, 100 * time.Microsecond, 200, 400},
		{"busy, large classes", 17, 40 * time.Millisecond, 600 * time.Microsecond, 20, 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := FirstPace(test.java)
			for i := range 40 {
				n := p.Size
				if i%3 == 2 {
					n = max(1, n/3) // what was left of a plan
				}
				p.Note(n, test.fixed+time.Duration(n)*test.class)
			}
			if p.Size < test.least || p.Size > test.most {
				t.Errorf("%d classes, want %d to %d", p.Size, test.least, test.most)
			}
			was := p.Size
			p.Note(p.Size, time.Second)
			if p.Size < was/2 {
				t.Errorf("%d classes after a second's pause, were %d", p.Size, was)
			}
			was = p.Size
			p.Note(1, time.Microsecond) // says nothing of larger ones
			if p.Size != was {
				t.Errorf("%d classes after a batch of one, were %d", p.Size, was)
			}
		})
	}
}

// TestHurried has batches as large as a pause allows: large where it is mostly a fixed time.
func TestHurried(t *testing.T) {
	for _, test := range []struct {
		java         int
		fixed, class time.Duration
		least, most  int // classes in a batch in the end
	}{
		{21, 80 * time.Millisecond, 20 * time.Microsecond, mostBatch, mostBatch},
		{21, 5 * time.Millisecond, 600 * time.Microsecond, 150, 250},
		{11, 2 * time.Millisecond, 1600 * time.Microsecond, 50, 80},
	} {
		p := Hurried(test.java)
		for i := range 40 {
			n := p.Size
			if i%3 == 2 {
				n = max(1, n/3) // what was left of a plan
			}
			p.Note(n, test.fixed+time.Duration(n)*test.class)
		}
		if p.Size < test.least || p.Size > test.most {
			t.Errorf("%+v: %d classes", test, p.Size)
		}
	}
}
