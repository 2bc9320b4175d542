package main

import (
	"fmt"
	"log"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// warm is how many recorded repetitions a micro program makes.
const warm = 20

// calls measures what counting adds to a call.
func calls(k *bench.Kit, page *bench.Page, j jdk.JDK) {
	page.Table(fmt.Sprintf("A call, JDK %d, tick", j.Version), "Entry and exit of a method together, in ns: the best of "+fmt.Sprint(warm)+" recorded repetitions less the best bare one of the same process, divided by the calls. "+
		"The last column is what counting adds. ",
		"program|", "counted|", "bare ms", "calls", "ns a call", "ns more")
	for _, m := range []bench.Micro{{Kind: "medium", Param: 256}, {Kind: "fib", Param: 32}} {
		if !k.Wants(m.Kind) {
			continue
		}
		rows := make([][][]float64, len(ways))
		for range k.Reps {
			for i, w := range ways {
				log.Printf("JDK %d, %v, %s", j.Version, m, w.name)
				r, err := k.Micro(j, m, warm, append([]string{"--clock", "tick", "--scheme", "C"}, w.flags...)...)
				if err != nil {
					page.Failed(m.Kind+", "+w.name, err)
					return
				}
				rows[i] = append(rows[i], []float64{r.Best() / 1e6, r.Calls, r.Cost()})
			}
		}
		first := bench.Medians(rows[0])
		for i, w := range ways {
			v := bench.Medians(rows[i])
			page.Row(m.String(), w.name, first[0], bench.Number(v[1]), v[2], fmt.Sprintf("%+.2f", v[2]-first[2]))
		}
	}
}

// kernels are the loops of Kernels.java, by its argument.
var kernels = []string{"sum of int[]", "sum of two float[]", "axpy of float[]", "dot product of int[]"}

// loops measures what counting does to vectorised loops.
func loops(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	page.Table(fmt.Sprintf("Vectorised loops, JDK %d, tick", j.Version), "A call of a method with a loop over 1,024 elements, in ns, the best of many repetitions, in processes of their own. ",
		"loop|", "bare", "recorded", "with bytecodes", "with blocks", "bytecodes beside recorded")
	if err := compile(k, j, "Kernels.java"); err != nil {
		return err
	}
	for kind, name := range kernels {
		var all [][]float64
		for range k.Reps {
			var row []float64
			for _, flags := range [][]string{nil, {}, {"--count", "bytecodes"}, {"--count", "blocks"}} {
				if flags != nil {
					flags = append([]string{"--root", "Kernels.root"}, flags...)
				}
				ns, err := best(k, j, "Kernels", kind, flags)
				if err != nil {
					return err
				}
				row = append(row, ns)
			}
			all = append(all, row)
		}
		m := bench.Medians(all)
		page.Row(name, m[0], m[1], m[2], m[3], fmt.Sprintf("%+.1f %%", 100*(m[2]/m[1]-1)))
	}
	return nil
}
