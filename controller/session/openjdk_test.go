package session_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// names sums a report's calls by full method name, below one root.
func names(r *export.Report, root string) map[string]int64 {
	out := map[string]int64{}
	var trees []*cct.Node
	for _, n := range r.Tree.Roots() {
		if m, _ := r.Lookup(n.Method); strings.HasPrefix(m.Name, root+"(") {
			trees = append(trees, n)
		}
	}
	for _, f := range cct.FlatOf(trees) {
		m, _ := r.Lookup(f.Method)
		out[m.Name] += f.Calls
	}
	return out
}

// differences of two sets of counts, some of them.
func differences(a, b map[string]int64) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s %d/%d", k, a[k], b[k]))
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, fmt.Sprintf("%s -/%d", k, b[k]))
		}
	}
	return out[:min(len(out), 20)]
}

// TestOpenJDKThreads has eight threads in the subgraph, waiting for reveals and
// in the JDK at the same time, and an exact count of the application's calls.
func TestOpenJDKThreads(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := truthProgram(t, j, "before", "8", "5")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Truth.root"}, UntilCalls: 40, Filter: filter.Set{JDK: true}})
		p.Send("go")
		got := recorded(finish(t, s))
		jdk := int64(0)
		for name, c := range got {
			if strings.HasPrefix(name, "java") {
				jdk += c.calls
				delete(got, name)
			}
		}
		if jdk == 0 {
			t.Error("no calls of the JDK")
		}
		compare(t, got, expectations(t, p, "TOTAL"), 1, once)
		p.Send("end")
	}, 8, 17, 25)
}

// TestOpenJDK records a program that works with the JDK's collections, with
// their methods: the counts are what the program does, the same by every scheme,
// and the same compiled (its loops are long enough for C2) and interpreted.
func TestOpenJDK(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Jdk")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		const times = 40
		record := func(scheme, rule string, jdk bool, jvm ...string) map[string]int64 {
			began := time.Now()
			p := program(t, j, dir, "Jdk", jvm, fmt.Sprint(times))
			s := attached(t, p)
			set := rules(t, rule)
			set.JDK = jdk
			start(t, s, session.Recording{Roots: []string{"t.Jdk.warm", "t.Jdk.root"}, Scheme: scheme, UntilCalls: times + 1, Filter: set})
			p.Send("go")
			p.WaitLine("DONE")
			r := finish(t, s)
			got := names(r, "t.Jdk.root")
			own := map[string]int64{}
			for k, n := range got {
				name, _, _ := strings.Cut(k, "(")
				own[name] += n
			}
			for line, m := range map[string]string{"COMPARES": "t.Jdk$Key.compareTo", "HASHES": "t.Jdk$Key.hashCode", "EQUALS": "t.Jdk$Key.equals", "MAPS": "t.Jdk.twice"} {
				var want int64
				for _, l := range p.Stdout() {
					fmt.Sscanf(l, line+" %d", &want)
				}
				if m == "t.Jdk$Key.compareTo" { // and its bridge
					want *= 2
				}
				if own[m] != want {
					t.Errorf("%s %s: %s %d calls, the program says %d", scheme, rule, m, own[m], want)
				}
			}
			for m, n := range map[string]int64{
				"java.util.ArrayList.<init>": -1, "java.util.Collections.sort": 1, "java.util.HashMap.put": 60, "java.util.HashMap.get": 60,
				"java.util.TreeMap.<init>": 1, "java.util.PriorityQueue.poll": 60, "java.util.Random.nextInt": -1,
			} {
				if n > 0 && own[m] < n*times || own[m] == 0 || n == 1 && own[m] != times {
					t.Errorf("%s %s: %s %d calls", scheme, rule, m, own[m])
				}
			}
			if got["java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;"] != 60*times {
				t.Errorf("%s %s: HashMap.get: %d calls", scheme, rule, got["java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;"])
			}
			p.Send("again") // without probes
			p.WaitLine("DONE")
			replaced := false
			for _, k := range r.Skipped {
				replaced = replaced || strings.HasPrefix(k.Method, "java.util.Arrays.copyOf(") && strings.Contains(k.Reason, "compilers may replace")
				if strings.Contains(k.Reason, "verify") || strings.Contains(k.Reason, "stack maps") {
					t.Errorf("%s: %s", k.Method, k.Reason)
				}
			}
			if !replaced {
				t.Errorf("%s: nobody says that Arrays.copyOf is an intrinsic", scheme)
			}
			if d := time.Since(began); testing.Verbose() {
				t.Logf("%s %q: %v, %d classes redefined in %v", scheme, rule, d, r.Redefinition.Classes, r.Redefinition.Time)
			}
			return got
		}
		const collections = "+java.util.* +java.util.stream.** +java.util.regex.*"
		b := record("B", collections, false)
		if len(b) < 100 {
			t.Errorf("only %d methods", len(b))
		}
		same := func(what string, other map[string]int64) {
			t.Helper()
			if d := differences(b, other); len(d) > 0 {
				t.Errorf("B and %s differ:\n%s", what, strings.Join(d, "\n"))
			}
		}
		same("-Xint", record("B", collections, false, "-Xint"))
		if j.Version == 17 {
			same("A", record("A", collections, false, "-Xshare:off")) // no class comes with stack maps
			same("C", record("C", collections, false))
		}
		all := record("B", "", true)
		for k, n := range b {
			if all[k] != n {
				t.Errorf("with --jdk, %s has %d calls, %d without", k, all[k], n)
			}
		}
	}, 8, 17, 25)
}
