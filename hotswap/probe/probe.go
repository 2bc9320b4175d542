package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// Hooks names the probe class in the target and its four static methods.
type Hooks struct {
	Class  string // internal name
	Enter  string // (I)J
	Exit   string // (J)V
	Thrown string // (J)V
	Resync string // (J)V
}

// A MethodKey names a method within its class.
type MethodKey struct{ Name, Desc string }

// String returns the key as the JVM writes it, "name(I)V".
func (k MethodKey) String() string { return k.Name + k.Desc }

// Skipped is a method with what there is to say about it.
type Skipped struct {
	MethodKey
	Reason string
}

// Result is what became of a class.
type Result struct {
	Bytes     []byte // nil when nothing was rewritten
	Rewritten []MethodKey
	Leaves    []MethodKey // those of them that got what is for leaf methods
	Skipped   []Skipped
	Counts    []Count   // of those of Rewritten that count what they execute
	Uncounted []Skipped // of Rewritten those that don't, though the program says so, and why
	Notes     []Skipped // rewritten, but the user should know, say that HotSpot won't compile or inline it any more
}

// Rewrite puts token probes into the methods for which id says so. It is asked
// once for every method of the class, in their order. The error, if there is
// one, says that cf is no class file or of an unknown version.
func Rewrite(cf []byte, h Hooks, id func(MethodKey) (id int32, ok bool)) (Result, error) {
	in := tokens
	in.Program = Tokens(h)
	return in.Rewrite(cf, id)
}

// Rewrite puts the program into the methods for which id says so, as the
// function Rewrite does with that of the token probes.
func (in *Injector) Rewrite(cf []byte, id func(MethodKey) (id int32, ok bool)) (Result, error) {
	c, err := classfile.Parse(cf)
	if err != nil {
		return Result{}, err
	}
	var res Result
	r := rewriters.Get().(*rewriter)
	defer r.end()
	r.begin(c, in, len(cf))
	for i := range c.Methods {
		m := &c.Methods[i]
		key := MethodKey{m.Name, m.Desc}
		n, ok := id(key)
		if !ok {
			continue
		}
		r.plain = false
		sizes, err := r.method(m, n)
		if err != nil && (r.counting.on || r.allocating()) {
			why := err
			r.plain = true
			if sizes, err = r.method(m, n); err == nil {
				res.Uncounted = append(res.Uncounted, Skipped{key, reasonOf(why)})
			}
		}
		if err != nil {
			res.Skipped = append(res.Skipped, Skipped{key, reasonOf(err)})
			continue
		}
		res.Rewritten = append(res.Rewritten, key)
		if r.counting.on {
			res.Counts = append(res.Counts, r.count(key))
		}
		if r.leaf {
			res.Leaves = append(res.Leaves, key)
		}
		if note := sizes.note(); note != "" {
			res.Notes = append(res.Notes, Skipped{key, note})
		}
	}
	if len(res.Rewritten) > 0 {
		res.Bytes = c.Bytes()
	}
	return res, nil
}
