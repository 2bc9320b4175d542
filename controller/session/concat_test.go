package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// concat puts texts together for variables that are no String: javac has invokedynamic return what they are.
const concat = `package t;
public class Concat {
    static Object o = "";
    static CharSequence c = "";
    static Comparable<String> p = "";
    static java.io.Serializable s = "";
    static int root(Object[] a, int n) {
        a[0] = n; a[0] += "x" + n;
        o = n; o += "o" + n;
        c = "c"; c += "d" + n;
        p = "p"; p += "q" + n;
        s = "s"; s += "t" + n;
        return a[0].hashCode() + o.hashCode() + c.length() + p.hashCode() + s.hashCode();
    }
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        java.util.Scanner in = new java.util.Scanner(System.in);
        while (in.hasNextInt()) {
            int sum = 0;
            for (int n = in.nextInt(); n > 0; n--) sum += root(new Object[1], n);
            System.out.println("DONE " + sum);
        }
    }
}`

// TestConcat counts the texts that are put together for variables of other types than String. A probe that took them for
// Strings was refused by the JVM's verifier.
func TestConcat(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, jvmtest.Compile(t, j, 11, map[string]string{"t/Concat.java": concat}), "Concat", nil)
		bare := ask(t, p, "100", "DONE ")
		for _, count := range [][]string{{metric.CountAllocations}, {metric.CountAllocations, metric.CountBytecodes}} {
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Concat.root"}, Count: count})
			if got := ask(t, p, "100", "DONE "); got != bare {
				t.Errorf("%v: the program's sum is %d, %d before", count, got, bare)
			}
			r := closed(t, s)
			for _, k := range r.Skipped {
				if strings.Contains(fmt.Sprint(k), "Verify") || strings.Contains(fmt.Sprint(k), "Concat.root") {
					t.Errorf("%v: %+v", count, k)
				}
			}
			texts := int64(0)
			for n := range cct.All(r.Tree.Roots()) {
				for _, a := range n.Allocs() {
					if strings.HasPrefix(a.Type.Name, "java.lang.String") {
						texts += a.Objects
					}
				}
			}
			if calls := cct.Sum(r.Tree.Roots()).Calls; calls != 100 || texts != 500 {
				t.Errorf("%v: %d calls, %d texts", count, calls, texts)
			}
		}
	}, 11, 17, 25)
}
