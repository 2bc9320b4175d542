package cha

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// A course tells while the instructions of a method pass by, in order, which of
// them most invocations run through: those under no condition, those of loops,
// and what a conditional return leaves. It is a guess, made of the layout that
// compilers give to code, for those who can live with a wrong one: what an
// exception handler begins, and what is skipped by some branch, is not likely.
type course struct {
	code  []byte
	exits map[int]int  // behind a loop: where it begins
	after map[int]bool // targets of branches so far
	until int          // offset up to which a condition holds
	cases bool         // the condition is a switch's
	dead  bool         // nothing likely falls through to here
}

// newCourse looks for the loops of a method.
func newCourse(code []byte) *course {
	c := &course{code: code, exits: map[int]int{}, after: map[int]bool{}}
	for in := classfile.Scan(code); in.Next(); {
		if f := in.Op.Info().Flow; (f == classfile.FlowJump || f == classfile.FlowBranch) && in.Target() <= in.Offset {
			c.exits[in.Offset+in.Size] = in.Target()
		}
	}
	return c
}

// pass takes the next instruction and says whether it is likely to be run.
func (c *course) pass(in *classfile.Instr) bool {
	if in.Offset >= c.until && c.after[in.Offset] {
		c.dead = false
	}
	c.cases = c.cases && in.Offset < c.until
	likely := in.Offset >= c.until && !c.dead
	flow := in.Op.Info().Flow
	if flow == classfile.FlowBranch || flow == classfile.FlowJump {
		c.after[in.Target()] = true
	}
	if !likely {
		// What ends a condition by a jump over what follows has an else part; cases of
		// a switch jump over the later ones.
		if _, loop := c.exits[in.Target()]; flow == classfile.FlowJump && !loop && (c.cases || in.Offset+in.Size == c.until) {
			c.until = max(c.until, in.Target())
		}
		return false
	}
	switch flow {
	case classfile.FlowBranch:
		to := in.Target()
		if begin, loop := c.exits[to]; to > in.Offset && (!loop || begin > in.Offset) {
			c.until = to
		}
	case classfile.FlowJump:
		c.dead = true
		c.until = max(c.until, in.Target())
	case classfile.FlowSwitch:
		sw, ok := in.Switch(c.code)
		if !ok {
			return true
		}
		end := in.Offset + int(sw.Default)
		for i := range sw.Count {
			end = max(end, in.Offset+int(sw.Offset(i)))
		}
		c.until, c.after[end], c.cases = end, true, true
	case classfile.FlowReturn, classfile.FlowThrow:
		c.dead = true
	}
	return true
}
