package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Preview is what Scheme A would instrument, had it been told to: a dry run.
type Preview struct {
	Target  Target
	Roots   []string // as resolved
	Unread  []string // classes of roots whose code is not known: what these roots call is not there
	Filter  *Filter  // nil: there was none
	Classes []PreviewClass
	Skipped []Skipped // methods within reach without probes, and call sites that can't be followed
	Notes   []string
}

// A PreviewClass is a class that would be redefined.
type PreviewClass struct {
	Name        string // "shop.orders.Order$Line"
	Loader      string
	Initialized bool     // as far as is known
	Methods     []string // that would get probes: "total()J"
}

// jsonPreview is the form of docs/formats-report.md.
type jsonPreview struct {
	Schema   int           `json:"schema"`
	Kind     string        `json:"kind"`
	Target   jsonTarget    `json:"target"`
	Scheme   string        `json:"scheme"`
	Roots    []string      `json:"roots"`
	Unread   []string      `json:"unread,omitempty"`
	Filter   *Filter       `json:"filter,omitempty"`
	Classes  int           `json:"classes"`
	Methods  int           `json:"methods"`
	Packages []jsonPackage `json:"packages"`
	Skipped  []Skipped     `json:"skipped"`
	Notes    []string      `json:"notes"`
}

type jsonPackage struct {
	Package string      `json:"package"`
	Classes int         `json:"classes"`
	Methods int         `json:"methods"`
	List    []jsonClass `json:"class_list"`
}

type jsonClass struct {
	Class       string   `json:"class"`
	Loader      string   `json:"loader"`
	Initialized bool     `json:"initialized"`
	Methods     []string `json:"methods"`
}

// packages sorts the classes into packages: those with most methods first, and
// so the classes of each.
func (p *Preview) packages() (out []jsonPackage, methods int) {
	at := map[string]int{}
	for _, c := range p.Classes {
		name := c.Name[:max(0, strings.LastIndexByte(c.Name, '.'))]
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, jsonPackage{Package: name})
		}
		k := &out[i]
		k.Classes++
		k.Methods += len(c.Methods)
		k.List = append(k.List, jsonClass{c.Name, c.Loader, c.Initialized, slices.Sorted(slices.Values(c.Methods))})
		methods += len(c.Methods)
	}
	slices.SortFunc(out, func(a, b jsonPackage) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), cmp.Compare(a.Package, b.Package))
	})
	for _, k := range out {
		slices.SortFunc(k.List, func(a, b jsonClass) int {
			return cmp.Or(cmp.Compare(len(b.Methods), len(a.Methods)), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Loader, b.Loader))
		})
	}
	return out, methods
}

// JSON writes the dry run in schema 1, as docs/formats-report.md describes it.
func (p *Preview) JSON(w io.Writer) error {
	packages, methods := p.packages()
	return writeJSON(w, "the dry run", jsonPreview{
		Schema: Schema, Kind: "dry-run", Target: jsonTarget(p.Target), Scheme: "A", Roots: some(p.Roots), Unread: p.Unread, Filter: p.Filter,
		Classes: len(p.Classes), Methods: methods, Packages: some(packages), Skipped: some(p.Skipped), Notes: some(p.Notes),
	})
}

const (
	mostPackages = 40
	mostClasses  = 5 // of a package
)

// Text writes the dry run for people. Of long lists it writes the beginnings;
// the JSON has everything.
func (p *Preview) Text(w io.Writer, color bool) error {
	packages, methods := p.packages()
	r := &Report{Target: p.Target, Roots: p.Roots, Skipped: p.Skipped, Notes: p.Notes, Filter: p.Filter}
	t := textWriter{sink: sink{w: w}, report: r, o: TextOptions{Color: color}}
	t.target()
	t.printf("dry run: nothing was instrumented. All at once (scheme A) would put probes into %s%s of %s in %s.\n", map[bool]string{true: "at least "}[len(p.Unread) > 0],
		Plural(int64(methods), "method", "methods"), Plural(int64(len(p.Classes)), "class", "classes"), Plural(int64(len(packages)), "package", "packages"))
	if len(packages) > 0 {
		t.section("By package, and the classes with most methods")
		table := table{head: []string{"classes", "methods", "package, class"}}
		for _, k := range packages[:min(mostPackages, len(packages))] {
			table.add(Clean(cmp.Or(k.Package, "(unnamed package)")), styleHot, Count(int64(k.Classes)), Count(int64(k.Methods)))
			for _, c := range k.List[:min(mostClasses, len(k.List))] {
				table.add("  "+Clean(c.Class[min(len(c.Class), len(k.Package)+min(1, len(k.Package))):]), "", "", Count(int64(len(c.Methods))))
			}
			if rest := len(k.List) - mostClasses; rest > 0 {
				table.add(fmt.Sprintf("  … %s", Plural(int64(rest), "more class", "more classes")), styleFold, "", "")
			}
		}
		if rest := len(packages) - mostPackages; rest > 0 {
			table.add(fmt.Sprintf("… %s", Plural(int64(rest), "more package", "more packages")), styleFold, "", "")
		}
		table.write(&t.sink, color, 0)
	}
	t.section("Without probes")
	t.filter()
	if len(p.Skipped) == 0 {
		t.text("nothing within reach that the analysis sees\n")
	}
	t.skipped()
	t.notes()
	if err := t.flush(); err != nil {
		return fmt.Errorf("text of the dry run: %w", err)
	}
	return nil
}
