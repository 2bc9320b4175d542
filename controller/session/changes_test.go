package session

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

// TestChanges: a class owes what is wanted until all of it is in force, however the changes
// overlap.
func TestChanges(t *testing.T) {
	c := newChanges()
	a, b := cha.ClassID{Name: "A"}, cha.ClassID{Name: "B"}
	c.want(b)
	first := c.want(a)
	if !c.pending(a) || !slices.Equal(c.due(), []cha.ClassID{a, b}) {
		t.Errorf("pending %v, due %v", c.pending(a), c.due())
	}
	c.offer(a)
	second := c.want(a) // while the JVM has the first
	if second <= first || !c.since(a, first) || c.since(a, second) {
		t.Errorf("changes %d, %d", first, second)
	}
	if c.settle(a, 7) || !c.pending(a) {
		t.Error("the second change is in force, and was not offered")
	}
	c.postpone(a)
	if !c.pending(a) || !slices.Equal(c.due(), []cha.ClassID{b}) {
		t.Errorf("postponed: pending %v, due %v", c.pending(a), c.due())
	}
	c.offer(a)
	if !c.settle(a, 7) || c.pending(a) {
		t.Error("all that was offered is in force, and something is pending")
	}
	if c.settle(b, 7) {
		t.Error("in force, and never offered")
	}
}
