package export

import "fmt"

// A Governor says how a recording's cost was held within a budget (package governor). Slow-downs
// are shares of the program's time without probes, 0.05 for 5 %.
type Governor struct {
	Budget    float64 `json:"budget"`
	OverShare float64 `json:"over_budget_share"` // share of the time in which the estimate was over the budget
	Overhead  float64 `json:"overhead"`          // the slow-down, as estimated last
	// Scale is what the probes were found to cost in the program, divided by what they cost by themselves;
	// estimates are multiplied by it.
	Scale float64        `json:"scale"`
	Every int64          `json:"every"` // one of so many root calls is recorded now
	Off   []string       `json:"off"`   // methods that are not recorded now
	Out   []string       `json:"out"`   // methods whose probes are taken out now
	Steps []GovernorStep `json:"steps"` // the first one first
}

// A GovernorStep is a change that a governor made.
type GovernorStep struct {
	After    float64  `json:"after_ms"` // since the recording began
	Action   string   `json:"action"`   // share, clock, counted, off, out, raise, put back, helpless
	Before   float64  `json:"overhead"` // the slow-down that was the reason
	Expected float64  `json:"expected"` // what it was to become
	Every    int64    `json:"every"`
	Count    int      `json:"count"`   // methods that are recorded otherwise from then on
	Methods  []string `json:"methods"` // the first of them, the most called first, [MostWhere] at the most
}

// Summary says how a governor stands, in one line.
func (g *Governor) Summary() string {
	text := fmt.Sprintf("overhead some %.2g %% of at most %.3g %%", 100*g.Overhead, 100*g.Budget)
	if g.Every > 1 {
		text += fmt.Sprintf(", 1 of %s root calls", Count(g.Every))
	}
	if n := len(g.Off); n > 0 {
		text += fmt.Sprintf(", %s off", Plural(int64(n), "method", "methods"))
	}
	if n := len(g.Out); n > 0 {
		text += fmt.Sprintf(", probes of %s taken out", Plural(int64(n), "method", "methods"))
	}
	return text
}

// governor says in a text report how the budget was held.
func (t *textWriter) governor() {
	g := t.report.Governor
	if g == nil {
		return
	}
	t.printf("budget: %s; over it for %.2g %% of the time, after %s\n", g.Summary(), 100*g.OverShare, Plural(int64(len(g.Steps)), "change", "changes"))
	for _, list := range []struct {
		what  string
		names []string
	}{{"not recorded, to hold the budget", g.Off}, {"without probes, to hold the budget", g.Out}} {
		for i, name := range list.names {
			if i == MostWhere {
				t.printf("  and %s more\n", Count(int64(len(list.names)-i)))
				break
			}
			if i == 0 {
				t.printf("%s:\n", list.what)
			}
			t.printf("  %s\n", Clean(name))
		}
	}
}
