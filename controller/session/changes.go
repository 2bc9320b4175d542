package session

import (
	"maps"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
)

// A changes says how far classes are from what is wanted of them. Each change of a class
// has a number: it is wanted, then offered to the JVM as bytes, then known to be in force.
// It is not safe for concurrent use: the loop owns it.
type changes struct {
	last                     int64 // number of the change that was wanted last
	wanted, offered, inForce map[cha.ClassID]int64
	owing                    map[cha.ClassID]bool // what is wanted of them is not in force, and somebody is to see to it

	at map[cha.ClassID]int64 // H_REDEFINED when the last change turned out to be in force, or more
}

func newChanges() changes {
	return changes{wanted: map[cha.ClassID]int64{}, offered: map[cha.ClassID]int64{}, inForce: map[cha.ClassID]int64{}, owing: map[cha.ClassID]bool{}, at: map[cha.ClassID]int64{}}
}

// want notes that a class has to change once more, and returns the number of the change.
func (c *changes) want(id cha.ClassID) int64 {
	c.last++
	c.wanted[id] = c.last
	c.owing[id] = true
	return c.last
}

// offer notes that the JVM is about to have all that is wanted of a class.
func (c *changes) offer(id cha.ClassID) { c.offered[id] = c.wanted[id] }

// settle notes that what was last offered of a class is in force now, when classes have been
// redefined so often, and reports whether that is all that is wanted.
func (c *changes) settle(id cha.ClassID, redefined int64) bool {
	if c.inForce[id] < c.offered[id] {
		c.inForce[id], c.at[id] = c.offered[id], redefined
	}
	if c.pending(id) {
		return false
	}
	delete(c.owing, id)
	return true
}

// pending reports whether something is wanted of a class that is not in force.
func (c *changes) pending(id cha.ClassID) bool { return c.inForce[id] < c.wanted[id] }

// lacked reports whether something that is wanted of a class may not have been in force when
// classes had been redefined so often.
func (c *changes) lacked(id cha.ClassID, redefined int64) bool {
	return c.pending(id) || c.at[id] > redefined
}

// since reports whether a change of a class with a higher number is wanted.
func (c *changes) since(id cha.ClassID, number int64) bool { return c.wanted[id] > number }

// postpone has nobody see to a class for now: what is wanted of it stays pending.
func (c *changes) postpone(id cha.ClassID) { delete(c.owing, id) }

// due are the classes that owe a change, in order.
func (c *changes) due() []cha.ClassID {
	return slices.SortedFunc(maps.Keys(c.owing), cha.ClassID.Compare)
}
