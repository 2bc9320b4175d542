package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// A guest is another tool that works on the same JVM.
type guest struct {
	*round
	calls int               // root calls that the program was asked for while the guest was there
	state map[string]string // its own
	after []func()

	debugger *proc.Proc
}

// A companion is a kind of guest. One that can't come and go is there from the JVM's start to its end.
type companion struct {
	name, does   string
	from, to     int                              // the JDKs that have it, 0 for no limit
	flags        func(g *guest) ([]string, error) // of the JVM
	enter, leave func(g *guest) error
	// works returns an error if what the guest was there for is not so. It is called when the guest has left, or the JVM has ended.
	works func(g *guest) error
	says  string // a regular expression of the lines that it prints on the program's standard error
}

// orders are the ways in which a guest and a recording can follow each other.
var orders = []struct {
	name string
	run  func(g *guest, c *companion) error
}{
	{"comes before, stays", func(g *guest, c *companion) error {
		return g.chain(c, "enter", "begin", "end", "begin C", "end", "leave", "well", "begin", "end")
	}},
	{"comes before, leaves while recording", func(g *guest, c *companion) error {
		return g.chain(c, "enter", "begin", "leave", "end")
	}},
	{"comes while recording, stays", func(g *guest, c *companion) error {
		return g.chain(c, "begin C", "enter", "end", "leave")
	}},
	{"comes and leaves while recording", func(g *guest, c *companion) error {
		return g.chain(c, "begin", "enter", "leave", "end")
	}},
}

// chain does one thing after another, with root calls in between, and looks at the program at the end.
func (g *guest) chain(c *companion, things ...string) error {
	const requests = 10
	in, recorded := false, 0
	for _, thing := range append(things, "well") {
		var err error
		switch thing {
		case "enter":
			in, g.calls = true, 0
			err = c.enter(g)
		case "leave":
			in = false
			if err = c.leave(g); err == nil {
				err = c.works(g)
			}
		case "begin", "begin C":
			recorded = 0
			// Counts must not depend on the machine's load: some guests listen on a port, where threads would wait for 100 ms at most.
			err = g.begin("--patience", "10s", "--scheme", map[string]string{"begin": "A", "begin C": "C"}[thing])
		case "end":
			err = g.counts(int64(recorded), perRequest)
		case "well":
			if err := g.well(); err != nil {
				return fmt.Errorf("at the end: %w", err)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", thing, err)
		}
		if err := g.t.ask(fmt.Sprintf("run %d", requests), "RAN"); err != nil {
			return fmt.Errorf("after %s: %w", thing, err)
		}
		recorded += requests
		if in {
			g.calls += requests
		}
	}
	return nil
}

// measureCompany has other tools work on the same JVM.
func measureCompany(k *bench.Kit, dir string, page *bench.Page) error {
	if err := prepare(k, dir); err != nil {
		return err
	}
	before := section(written(), "Company")
	headings := append([]string{"beside Rivulet|"}, columnsOf(versions)...)
	page.Table("Company", "Other tools on the same JVM. A tool that can come and go does so in four ways, each with a process of its own: it comes before the recording or while it is on, and it stays or leaves while it is on. Then:\n\n"+
		"* counts are exact, and those that the program's source says;\n"+
		"* the other tool has done its work: one that samples has written its file, and its own counts are right where it has some;\n"+
		"* when both have left, the program's methods have the code of before, and nothing of Rivulet's is left.\n\n"+
		"No result may be wrong, and the program must end with its own exit code.", headings...)
	for i := range companions {
		c := &companions[i]
		if !k.Wants(c.name) {
			continue
		}
		cells := earlier(before, c.does, versions)
		for _, j := range k.JDKs {
			cell := "-"
			if c.from <= j.Version && (c.to == 0 || j.Version <= c.to) {
				err := c.visits(k, j, dir)
				cell = "exact, both work"
				if errors.Is(err, errAbsent) {
					cell = "-"
				} else if err != nil {
					cell = "**failed**"
					page.Failed(fmt.Sprintf("JDK %d, %s", j.Version, c.name), err)
				}
				log.Printf("JDK %d, %s: %s %v", j.Version, c.name, cell, err)
			}
			cells[j.Version] = cell
		}
		row := []any{c.does}
		for _, v := range versions {
			row = append(row, cmp.Or(cells[v], "not tried"))
		}
		page.Row(row...)
	}
	return nil
}

// visits tries a companion in all orders.
func (c *companion) visits(k *bench.Kit, j jdk.JDK, dir string) error {
	if c.enter == nil {
		return c.visit(k, j, dir, func(g *guest) error {
			for _, step := range []func(*round) error{counted("--scheme", "A"), loaded(), counted("--scheme", "C", "--clock", "precise", "--record", "events"), looks("threads")} {
				if err := step(g.round); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, o := range orders {
		if err := c.visit(k, j, dir, func(g *guest) error { return o.run(g, c) }); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// visit has the program run with a companion.
func (c *companion) visit(k *bench.Kit, j jdk.JDK, dir string, run func(*guest) error) (err error) {
	g := &guest{round: &round{Kit: k, fault: &fault{name: c.name}, rng: rand.New(rand.NewPCG(1, 1)), jdk: j, dir: dir}, state: map[string]string{}}
	defer func() {
		for _, end := range g.after {
			end()
		}
		if err != nil && g.t != nil {
			if crash := g.crash(); crash != "" {
				err = errors.Join(err, errors.New(crash))
			}
			err = fmt.Errorf("%w\nprogram: %s", err, g.t.Err.All())
		}
		g.close()
	}()
	if c.flags != nil {
		if g.launch.flags, err = c.flags(g); err != nil {
			return err
		}
	}
	if err := g.start(false, 0); err != nil {
		return err
	}
	if err := g.t.ask("hold", "HELD"); err != nil {
		return err
	}
	if err := run(g); err != nil {
		return err
	}
	if err := g.ends(c.says); err != nil {
		return err
	}
	if c.enter == nil {
		return c.works(g)
	}
	return nil
}
