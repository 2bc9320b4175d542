package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// An outcome is what the rounds of one fault showed.
type outcome struct {
	Rounds, Recording int
	Silent, Restored  []time.Duration
	Reports, Reported int // whole ones, of those there had to be
	Exact, Again      int // recordings afterwards
	Late              int // not restored in time
	Failed            []string
}

func (o *outcome) add(r *round) {
	o.Rounds++
	if r.recording {
		o.Recording++
	}
	if r.silent > 0 {
		o.Silent = append(o.Silent, r.silent)
	}
	if r.restored > 0 {
		o.Restored = append(o.Restored, r.restored)
	}
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&o.Late, r.late)
	count(&o.Reported, r.mustReport)
	count(&o.Reports, r.whole)
	count(&o.Again, r.again)
	count(&o.Exact, r.exact)
}

// outcomes are those of several runs, as a file keeps them.
type outcomes struct {
	Seeds  []uint64
	Faults map[string]outcome
	Cells  map[string]string // of the matrix
}

// kept reads what earlier runs left into the faults; "" or a file that isn't there is none.
func kept(file string, chosen []*fault) (*outcomes, error) {
	all := &outcomes{Faults: map[string]outcome{}, Cells: map[string]string{}}
	b, err := os.ReadFile(file)
	switch {
	case file == "" || errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(b, all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, f := range chosen {
		f.outcome = all.Faults[f.name]
	}
	return all, nil
}

// ran adds a run with this seed.
func (all *outcomes) ran(seed uint64, chosen []*fault) {
	if *rounds > 0 && !slices.Contains(all.Seeds, seed) {
		all.Seeds = append(all.Seeds, seed)
	}
	for _, f := range chosen {
		all.Faults[f.name] = f.outcome
	}
}

// write writes the file, unless its name is "".
func (all *outcomes) write(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

// seeds names those of the runs.
func seeds(of []uint64) string {
	switch len(of) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("Seed %d.", of[0])
	}
	return fmt.Sprintf("Seeds %s.", strings.Trim(fmt.Sprint(of), "[]"))
}

func median(d []time.Duration) string {
	if len(d) == 0 {
		return "-"
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return fmt.Sprint(d[len(d)/2].Milliseconds())
}

func longest(d []time.Duration) string {
	if len(d) == 0 {
		return "-"
	}
	return fmt.Sprint(slices.Max(d).Milliseconds())
}

func of(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, all)
}
