package main

import (
	"errors"
	"fmt"
	"log"
	"math"
	"runtime"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

var roots = []string{"whole", "partial"} // the partial one's dormant calls need the whole

// programs measures real programs and takes their overhead apart by what a
// call was found to cost: a section for each JDK and clock.
func programs(k *bench.Kit, page *bench.Page, found map[mode]cost) {
	for _, j := range k.JDKs {
		for _, clock := range k.Clocks() {
			page.Table(fmt.Sprintf("Real programs, JDK %d, %s", j.Version, clock), "Overhead is the time of an iteration, by that of the same iteration of a bare process: the median of the second half of the iterations (shop: requests a second of a bare server by those of the recorded one, which are loaded in turns, after the reveal, by the same before; bare is the cores' time for a request). "+
				"It is 1, and calls inside times the cost of a call on `medium`, and dormant calls (those of the same methods outside of the root) times theirs, and a rest. "+
				"Aim is what the overhead has to stay below with the tick clock. After is after detaching, when code is being compiled once more. A whole root whose contexts have no room is left out. Scheme C.",
				"program|", "root|", "bare ms", "Mcalls/s inside", "dormant", "overhead", "aim", "= 1 + inside", "+ dormant", "+ rest", "after")
			for _, p := range bench.Programs {
				if k.Wants(p.Name) {
					rows(page, mode{j.Version, clock}, p.Name, found, program(k, j, &p))
				}
			}
			if k.Wants("shop") {
				rows(page, mode{j.Version, clock}, "shop", found, shop(k, j))
			}
		}
	}
}

// A measurer measures a root with a clock.
type measurer func(root, clock string) (*outcome, error)

// rows adds those of a program.
func rows(page *bench.Page, m mode, name string, found map[mode]cost, measure measurer) {
	var whole *outcome
	for _, root := range roots {
		log.Printf("JDK %d, %s, %s, %s", m.jdk, name, root, m.name)
		o, err := measure(root, m.name)
		switch {
		case errors.Is(err, bench.ErrInexact) && root == "whole":
			page.Left(name+", "+root, err)
			continue
		case err != nil:
			page.Failed(name+", "+root, err)
			continue
		}
		dormant := 0.0
		switch {
		case root == "whole":
			whole = o
		case whole == nil:
			dormant = math.NaN()
		default:
			dormant = o.dormant(whole)
		}
		calls := o.calls()
		p := explain(o, calls, dormant, found[m])
		page.Row(name, root, o.bare, calls/o.bare/1e3, dormant/o.bare/1e3, o.overhead, aim(name, root, m.name, o), p.inside, p.dormant, p.rest, o.after)
	}
}

// program measures one that makes iterations. Its bare processes serve all
// roots. The precise clock, with which iterations take up to twenty times as
// long, makes do with fewer.
func program(k *bench.Kit, j jdk.JDK, p *bench.Program) measurer {
	bares := map[string][]*bench.ProgramRun{}
	return func(root, clock string) (*outcome, error) {
		p := *p
		if clock == "tick" && p.Steady > 0 {
			p.Count = p.Steady
		}
		for len(bares[clock]) < k.Reps {
			b, err := k.Bare(j, &p)
			if err != nil {
				return nil, err
			}
			bares[clock] = append(bares[clock], b)
		}
		bare := bares[clock]
		o := &outcome{}
		var all [][]float64
		for i := range k.Reps {
			flags := []string{"--root", p.Root(root), "--clock", clock}
			if p.Room != "" && root == "whole" {
				flags = append(flags, "--memory", p.Room)
			}
			r, err := k.Profile(j, &p, bare[i], flags...)
			if err != nil {
				return nil, err
			}
			all = append(all, []float64{
				bench.Median(bench.Late(bare[i].Laps)),
				bench.Median(bench.Late(bench.Ratios(r.Laps, bare[i].Laps))),
				bench.Median(bench.Late(bench.Ratios(r.Post, bare[i].Post))),
			})
			o.inside = r.Report.PerUnit(float64(len(r.Laps)))
		}
		m := bench.Medians(all)
		o.bare, o.overhead, o.after = m[0], m[1], m[2]
		return o, nil
	}
}

// shop measures the server: the load takes all cores, so what a request takes
// of them is their number by the rate.
func shop(k *bench.Kit, j jdk.JDK) measurer {
	names := map[string]string{"whole": bench.ShopWhole, "partial": bench.ShopPartial}
	return func(root, clock string) (*outcome, error) {
		o := &outcome{}
		var all [][]float64
		for range k.Reps {
			r, err := k.Shop(j, "--root", names[root], "--clock", clock, "--scheme", "C")
			if err != nil {
				return nil, err
			}
			all = append(all, []float64{float64(runtime.NumCPU()) * 1e3 / r.Bare, r.Bare / r.During, r.After})
			o.inside = r.Report.PerUnit(math.Max(1, r.Requests))
		}
		m := bench.Medians(all)
		o.bare, o.overhead, o.after = m[0], m[1], m[2]
		return o, nil
	}
}
