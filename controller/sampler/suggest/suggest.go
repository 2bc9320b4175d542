// Package suggest finds roots for exact recording in a report of samples: methods that
// hold much of the time, are entered while one records, and are the application's.
//
// What recording would cost can't be read off samples, which see no call that is
// shorter than their period. So the price is said as far as it is known: how many calls
// below the root the samples met, which is a lower bound, and which share of the frames
// below it were new activations at each sample. Where nearly all were, calls are
// short and many, and recording slows that part of the program most.
//
// Its functions are pure.
package suggest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Bounds of what is suggested.
const (
	leastShare   = 0.02 // of the time, that a root holds
	sameShare    = 0.85 // of its caller's time: less is worth a suggestion of its own
	leastEntries = 2    // met
	idle         = 0.02 // share of its time on a core, up to which a method only waits
	idleShare    = 0.6  // share of its samples in waiting operations, from which it only polls
	leastCore    = 0.01 // of a core: what takes less is not worth a recording, and most likely polls
)

// A Price says how dear recording a root exactly is likely to be.
type Price string

// The prices. Inside the root a call costs 3 to 10 ns with the tick clock.
const (
	Low    Price = "low"    // most activations lasted over several samples: calls are few
	Medium Price = "medium" // some did
	High   Price = "high"   // nearly each sample met new ones: calls may be many millions a second
)

// A Root is a suggestion.
type Root struct {
	Method    cct.Method
	Samples   int64   // that met it
	Share     float64 // of all samples
	Low, High float64 // 95 % interval of Share
	Time      int64   // ns that its samples stand for
	Entries   int64   // activations met: it is called at least so often
	Rate      float64 // Entries a second
	Calls     float64 // calls a second below it and of it, at least
	Fresh     float64 // share of the frames below it that were new at a sample; 0 if there were none
	Price     Price
	Methods   int  // that were met below it, itself included, without the JDK's
	Classes   int  // of these
	Depth     int  // levels below it
	Own       bool // in the packages of the program's main class, or named as the application's
	Framework bool // of a framework's
}

// Roots are the n best suggestions, the best first. r must be a report of samples. app are the
// application's packages, see [application.New]; none leave them to its list.
func Roots(r *export.Report, n int, app ...string) []Root {
	if r.Tree == nil || r.Sampling == nil || r.Time <= 0 {
		return nil
	}
	roots := cct.Merge(r.Tree.Roots())
	rules, err := application.New(app, r.Target.Main)
	if err != nil {
		return nil
	}
	found := measure(roots, waiting(r))
	all := int64(0)
	sums := cct.SampleTotals(roots)
	for _, root := range roots {
		all += sums[root].Count
	}
	var out []Root
	number := map[int32]int{} // in out, plus one
	for method, f := range found {
		m := r.Method(method)
		if !eligible(m) || f.entries < leastEntries || float64(f.samples) < leastShare*float64(all) {
			continue
		}
		if f.time > 0 && float64(f.ran) <= idle*float64(f.time) {
			continue // it waits
		}
		if float64(f.waits) > idleShare*float64(f.samples) || float64(f.ran) < leastCore*float64(r.Time) && r.Sampling.Mode != export.WallMode {
			continue // it polls
		}
		kind := rules.Kind(m)
		s := Root{
			Method: m, Samples: f.samples, Share: float64(f.samples) / float64(all), Time: f.time, Entries: f.entries,
			Rate: float64(f.entries) / r.Time.Seconds(), Calls: float64(f.entries+f.below) / r.Time.Seconds(),
			Own: kind == application.Own, Framework: kind == application.Framework,
		}
		s.Low, s.High = export.Wilson(f.samples, all)
		if f.visits > 0 {
			s.Fresh = float64(f.below) / float64(f.visits)
		}
		s.Price = priceOf(s.Fresh)
		out = append(out, s)
		number[method] = len(out)
	}
	out = thin(roots, r, out, number)
	slices.SortStableFunc(out, better)
	out = out[:min(n, len(out))]
	for i := range out {
		describe(r, roots, &out[i])
	}
	return out
}

// Prices say what recording each method that was met, and can be a root, is likely to cost, by
// the methods' names.
func Prices(r *export.Report) map[string]string {
	out := map[string]string{}
	if r.Tree == nil || r.Sampling == nil {
		return out
	}
	for method, f := range measure(cct.Merge(r.Tree.Roots()), waiting(r)) {
		m := r.Method(method)
		if !eligible(m) {
			continue
		}
		fresh := 0.0
		if f.visits > 0 {
			fresh = float64(f.below) / float64(f.visits)
		}
		out[m.Name] = string(priceOf(fresh))
	}
	return out
}

func priceOf(fresh float64) Price {
	switch {
	case fresh < 0.15:
		return Low
	case fresh < 0.5:
		return Medium
	}
	return High
}

// better orders suggestions: the program's own before libraries', then by share, the
// cheaper first where shares can't be told apart.
func better(a, b Root) int {
	score := func(r Root) float64 {
		s := r.Share
		switch r.rank() {
		case 0:
			s *= 0.3
		case 1:
			s *= 0.6
		}
		switch r.Price {
		case Medium:
			s *= 0.9
		case High:
			s *= 0.8
		}
		return s
	}
	return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Method.Name, b.Method.Name))
}

// rank says how much the application's own it is.
func (r *Root) rank() int {
	switch {
	case r.Own:
		return 2
	case r.Framework:
		return 0
	}
	return 1
}

// A figure is what the tree has of a method: each path counts once, from its outermost level.
type figure struct {
	samples, time, ran int64
	entries            int64
	below              int64 // entries below
	visits             int64 // frames below, at all samples
	waits              int64 // of samples, those in operations that wait
}

// measure adds up every method's subtrees.
func measure(roots []*cct.Node, waiting func(int32) bool) map[int32]*figure {
	type sum struct{ samples, time, ran, entries, visits, waits int64 }
	sums := map[*cct.Node]sum{}
	out := map[int32]*figure{}
	open := map[int32]int{}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		open[n.Method]++
		return true
	}, func(n *cct.Node, _ int) {
		open[n.Method]--
		var below sum
		for _, c := range n.Children {
			s := sums[c]
			delete(sums, c)
			below.samples, below.time, below.ran = below.samples+s.samples, below.time+s.time, below.ran+s.ran
			below.entries, below.visits, below.waits = below.entries+s.entries, below.visits+s.visits, below.waits+s.waits
		}
		own := sum{time: n.Self}
		if s := n.Sample(); s != nil {
			own.samples, own.ran = s.Count, s.Ran
		}
		samples := below.samples + own.samples
		if waiting(n.Method) {
			below.waits = samples
		}
		if open[n.Method] == 0 {
			f := out[n.Method]
			if f == nil {
				f = &figure{}
				out[n.Method] = f
			}
			f.samples += samples
			f.time += below.time + own.time
			f.ran += below.ran + own.ran
			f.entries += n.Calls
			f.below += below.entries
			f.visits += below.visits
			f.waits += below.waits
		}
		sums[n] = sum{samples, below.time + own.time, below.ran + own.ran, below.entries + n.Calls, below.visits + samples, below.waits}
	})
	return out
}

// thin drops suggestions that hold nearly all of what another one holds that calls
// them: the outer one has their context, too. An outer one of a library's gives way to
// the program's own.
func thin(roots []*cct.Node, r *export.Report, list []Root, number map[int32]int) []Root {
	above := map[int]map[int]bool{} // the suggestions on the paths to each
	var path []int
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		k := number[n.Method]
		if k > 0 {
			if above[k] == nil {
				above[k] = map[int]bool{}
			}
			for _, a := range path {
				if a > 0 && a != k {
					above[k][a] = true
				}
			}
		}
		path = append(path, k)
		return true
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	dropped := make([]bool, len(list)+1)
	order := make([]int, len(list))
	for i := range list {
		order[i] = i + 1
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b-1].Samples, list[a-1].Samples), cmp.Compare(list[a-1].Method.Name, list[b-1].Method.Name))
	})
	for _, inner := range order {
		for outer := range above[inner] {
			in, out := &list[inner-1], &list[outer-1]
			if dropped[outer] || dropped[inner] || above[outer][inner] || float64(in.Samples) < sameShare*float64(out.Samples) {
				continue
			}
			if in.rank() > out.rank() {
				dropped[outer] = true
			} else {
				dropped[inner] = true
			}
		}
	}
	var kept []Root
	for i := range list {
		if !dropped[i+1] {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// describe counts what lies below a suggestion.
func describe(r *export.Report, roots []*cct.Node, s *Root) {
	methods, classes := map[int32]bool{}, map[string]bool{}
	inside, depth := 0, 0
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		m := r.Method(n.Method)
		if inside > 0 || m == s.Method {
			inside++
			depth = max(depth, inside-1)
			if eligible(m) {
				methods[n.Method] = true
				classes[classOf(m.Name)] = true
			}
		}
		return true
	}, func(*cct.Node, int) {
		if inside > 0 {
			inside--
		}
	})
	s.Methods, s.Classes, s.Depth = len(methods), len(classes), depth
}

// jdk are the packages whose methods get no probes unless one asks for it.
var jdk = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "org.ietf.jgss.", "org.jcp.xml.", "org.w3c.dom.", "org.xml.sax."}

// jdkTools are classes of the JDK that the application's loader defines, as the
// compiler's.
const jdkTools = "com.sun.tools."

// eligible tells whether a method can be a root: a Java method of the program's, with
// a name that --root takes.
func eligible(m cct.Method) bool {
	if m.Loader != "" || !strings.Contains(m.Name, "(") {
		return false
	}
	for _, p := range jdk {
		if strings.HasPrefix(m.Name, p) && !strings.HasPrefix(m.Name, jdkTools) {
			return false
		}
	}
	class := classOf(m.Name)
	return !application.Generated(class) && !strings.Contains(class, "$$") && !strings.Contains(class, "/") && !strings.Contains(m.Name, ".<clinit>(")
}

func classOf(method string) string {
	head, _, _ := strings.Cut(method, "(")
	return head[:max(strings.LastIndexByte(head, '.'), 0)]
}

// Name is the root in the form that --root takes: without its descriptor.
func (r *Root) Name() string {
	name, _, _ := strings.Cut(r.Method.Name, "(")
	return name
}

// Charge is the share of a core that recording the calls which were met would take,
// at 10 ns a call: a lower bound, since short calls are not met.
func (r *Root) Charge() float64 { return math.Round(r.Calls*10/1e9*1e6) / 1e6 }
