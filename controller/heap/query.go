package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// ErrQuery says that a query makes no sense.
var ErrQuery = errors.New("query")

// A candidate is what an expression can ask of an object.
type candidate struct {
	Class    string         `expr:"class"`
	Address  string         `expr:"address"`
	Shallow  int64          `expr:"shallow"`
	Retained int64          `expr:"retained"`
	Length   int64          `expr:"length"` // of an array; -1 of other objects
	Fields   map[string]any `expr:"fields"` // by name; of references to strings the text, of others the address, nil if null
}

// A Found is an object that a query has found.
type Found struct {
	Object   string         `json:"object"`
	Class    string         `json:"class"`
	Shallow  int64          `json:"shallow_bytes"`
	Retained int64          `json:"retained_bytes"`
	Length   *int64         `json:"length,omitempty"`
	Fields   map[string]any `json:"fields,omitempty"`
}

// FoundObjects is the answer to a query.
type FoundObjects struct {
	Schema   int     `json:"schema"`
	Kind     string  `json:"kind"` // "heap-objects"
	File     string  `json:"file,omitempty"`
	Matching int64   `json:"matching"`
	Shallow  int64   `json:"shallow_bytes"` // of all that match
	Objects  []Found `json:"objects"`       // those that retain most
}

// Find goes through all objects that the roots reach and whose class matches a pattern
// (path.Match: *, ? and [] ), and returns those for which an expression
// (expr-lang.org) is true, what retains most first; "" is always true. It reads the
// dump once more. An object of which the expression can't be computed doesn't match. The error
// wraps ErrQuery if pattern or expression make no sense, or if it could be computed of none.
func (h *Heap) Find(ctx context.Context, pattern, expression string, top int, o Options) (*FoundObjects, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%w: class %q: %w", ErrQuery, pattern, err)
	}
	if expression == "" {
		expression = "true"
	}
	program, err := expr.Compile(expression, expr.Env(candidate{}), expr.AsBool())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	wanted := make([]bool, len(h.t.all))
	for n, c := range h.t.all {
		wanted[n], _ = path.Match(pattern, c.name)
		wanted[n] = wanted[n] || pattern == "" || pattern == c.name
	}
	out := &FoundObjects{Schema: Schema, Kind: "heap-objects", Objects: []Found{}}
	type hit struct {
		place    uint32
		retained int64
	}
	var hits []hit
	classes, places := h.g.class.u32(), h.tree.place.u32()
	var machine vm.VM
	var failed error
	s := h.f.Scan()
	for n := 0; ; n++ {
		if n%checkEvery == 0 {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			o.progress("searching objects", s.Offset(), h.f.Size)
		}
		r, err := s.Next()
		if err != nil {
			break // the end, or what Damage says
		}
		if r.Kind != hprof.KindInstance && r.Kind != hprof.KindObjectArray && r.Kind != hprof.KindPrimArray {
			continue
		}
		ob, ok := h.v.ids.find(r.ID)
		if !ok || places[ob] == 0 || !wanted[classes[ob]] {
			continue
		}
		yes, err := machine.Run(program, h.candidate(ob, r))
		if err != nil {
			// Classes without a field that the expression compares.
			if failed == nil {
				failed = fmt.Errorf("%w: object %s of class %s: %w", ErrQuery, h.address(ob), h.class(ob).name, err)
			}
			continue
		}
		if yes != true {
			continue
		}
		p := places[ob]
		out.Matching++
		out.Shallow += h.tree.shallow(p)
		hits = keepTop(hits, hit{p, h.tree.retained(p)}, top, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.retained, a.retained), cmp.Compare(a.place, b.place))
		})
	}
	if out.Matching == 0 && failed != nil {
		return nil, failed
	}
	for _, x := range hits {
		ob := h.tree.object(x.place)
		f := Found{Object: h.address(ob), Class: h.class(ob).name, Shallow: h.tree.shallow(x.place), Retained: x.retained}
		if _, r, err := h.read(ob); err == nil {
			c := h.candidate(ob, r)
			f.Fields = c.Fields
			if c.Length >= 0 {
				f.Length = &c.Length
			}
		}
		out.Objects = append(out.Objects, f)
	}
	return out, nil
}

// candidate puts together what is known of an object.
func (h *Heap) candidate(ob uint32, r *hprof.Record) candidate {
	p := h.tree.placeOf(ob)
	c := candidate{Class: h.class(ob).name, Address: h.address(ob), Shallow: h.tree.shallow(p), Retained: h.tree.retained(p), Length: -1}
	if r.Kind != hprof.KindInstance {
		c.Length = r.Length
		return c
	}
	c.Fields = map[string]any{}
	for _, v := range h.fieldsOf(ob, r.Body) {
		if _, hidden := c.Fields[v.name]; !hidden { // a superclass's of the same name
			c.Fields[v.name] = h.goValue(v)
		}
	}
	return c
}

// goValue is a value as an expression sees it.
func (h *Heap) goValue(v value) any {
	switch v.typ {
	case hprof.Object:
		to, ok := h.v.ids.find(v.bits)
		switch {
		case v.bits == 0:
			return nil
		case ok && h.class(to).name == "java.lang.String":
			return h.stringText(to)
		}
		return fmt.Sprintf("0x%x", v.bits)
	case hprof.Boolean:
		return v.bits != 0
	case hprof.Char:
		return string(rune(v.bits))
	case hprof.Float:
		return float64(math.Float32frombits(uint32(v.bits)))
	case hprof.Double:
		return math.Float64frombits(v.bits)
	case hprof.Byte:
		return int64(int8(v.bits))
	case hprof.Short:
		return int64(int16(v.bits))
	case hprof.Int:
		return int64(int32(v.bits))
	}
	return int64(v.bits)
}
