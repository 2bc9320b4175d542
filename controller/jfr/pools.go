package jfr

// A pool has the values of a type that events refer to.
type pool struct {
	at   map[int64]place
	memo map[int64]Value
}

// A place is where a value is: a checkpoint's bytes, and the offset in them.
type place struct {
	in *checkpoint
	at int
}

// A checkpoint is a record of pools. Its bytes are kept.
type checkpoint struct {
	b    []byte
	base int64
}

const (
	perEntry = 64 // bytes that an entry of an index takes
	perValue = 80 // bytes of a value that is kept
	mostKept = 32 << 20
)

// checkpoints reads all checkpoints, from the last one back to the first.
func (c *Chunk) checkpoints() error {
	for at := c.Checkpoint; at != 0; {
		body, base, id, err := c.record(at)
		if err != nil {
			return err
		}
		if id != checkpointID {
			return &FormatError{Offset: base, What: "no checkpoint where the last one says"}
		}
		in := &input{b: body, base: base, compressed: c.compressed, steps: stepsOf(len(body))}
		in.long() // start
		in.long() // duration
		delta := in.long()
		in.byte() // what it was written for
		if err := c.pools(in); err != nil {
			return err
		}
		if delta == 0 {
			return nil
		}
		if delta > 0 || at+delta < headerSize {
			return &FormatError{Offset: base, What: "a checkpoint that does not lead back"}
		}
		at += delta
	}
	return nil
}

// pools indexes the values of a checkpoint.
func (c *Chunk) pools(in *input) error {
	from := &checkpoint{b: in.b, base: in.base}
	for range in.count() {
		id := in.long()
		t := c.types[id]
		if in.err == nil && t == nil {
			in.fail("a constant pool of a type that there is not", nil)
		}
		n := in.count()
		if in.err != nil {
			return in.err
		}
		if t.pool == nil {
			t.pool = &pool{at: map[int64]place{}}
		}
		if err := c.take(perEntry*int64(n), in.base+int64(in.at)); err != nil {
			return err
		}
		for range n {
			key := in.long()
			if _, double := t.pool.at[key]; !double { // later ones came first
				t.pool.at[key] = place{from, in.at}
			}
			c.skip(in, t, 0)
			if in.err != nil {
				return in.err
			}
		}
	}
	return in.err
}

// lookup is the value with a key; Null if there is none. Values are kept, except
// stack traces, which are many.
func (c *Chunk) lookup(t *Type, key int64) Value {
	p := t.pool
	if p == nil {
		return Value{}
	}
	if v, ok := p.memo[key]; ok {
		return v
	}
	where, ok := p.at[key]
	if !ok {
		return Value{}
	}
	in := &input{b: where.in.b, at: where.at, base: where.in.base, compressed: c.compressed}
	in.steps = stepsOf(in.left())
	fixed := c.fixed
	keep := t.Name != "jdk.types.StackTrace"
	c.fixed = keep
	before := in.steps
	v := c.value(in, t, 0)
	c.fixed = fixed
	if in.err != nil { // it was skipped without one, so this can't be
		c.damage = in.err
		return Value{}
	}
	if keep {
		if c.memo += perValue * int64(before-in.steps); c.memo > mostKept {
			c.memo = 0
			for _, t := range c.types {
				if t.pool != nil {
					clear(t.pool.memo)
				}
			}
		}
		if p.memo == nil {
			p.memo = map[int64]Value{}
		}
		p.memo[key] = v
	}
	return v
}
