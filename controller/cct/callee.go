package cct

import (
	"cmp"
	"slices"
)

// A Callee is a method without probes, such as one of the JDK's, that samples have met below a
// node: an estimate of what the node's self time consists of. Only samples know it, so it
// has neither calls nor an exact time. Figures include those of its callees.
type Callee struct {
	Name    string // "java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;"
	Samples int64
	Ran     int64 // ns on a core that they stand for
	Wall    int64 // ns that they stand for
	Callees []*Callee
}

// Add counts a sample for the callee of that name, and returns it.
func (c *Callee) Add(name string, samples, ran, wall int64) *Callee {
	var k *Callee
	for _, o := range c.Callees {
		if o.Name == name {
			k = o
			break
		}
	}
	if k == nil {
		k = &Callee{Name: name}
		c.Callees = append(c.Callees, k)
	}
	k.Samples, k.Ran, k.Wall = k.Samples+samples, k.Ran+ran, k.Wall+wall
	return k
}

// mostCallees bounds how deep callees go; what lies deeper is in the figures alone.
const mostCallees = 256

// plus adds two up, either of which may be nil; they stay as they are.
func (c *Callee) plus(o *Callee) *Callee {
	if o == nil {
		return c
	}
	out := &Callee{}
	if c != nil {
		out.take(c, 0)
	}
	out.take(o, 0)
	return out
}

func (c *Callee) take(o *Callee, depth int) {
	if depth >= mostCallees {
		return
	}
	for _, k := range o.Callees {
		c.Add(k.Name, k.Samples, k.Ran, k.Wall).take(k, depth+1)
	}
}

// Sorted are the callees, those with the most samples first.
func (c *Callee) Sorted() []*Callee {
	if c == nil {
		return nil
	}
	out := slices.Clone(c.Callees)
	slices.SortStableFunc(out, func(a, b *Callee) int { return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name)) })
	return out
}
