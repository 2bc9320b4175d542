package docs

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/application"
)

// TestFrameworks wants the list of frameworks on docs/reference.md as it is in the code.
func TestFrameworks(t *testing.T) {
	page := pages(t)["docs/reference.md"]
	ticked := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	for _, e := range application.List {
		row := "| " + e.Name + " | " + ticked(e.Packages)
		if len(e.Except) > 0 {
			row += "; not " + ticked(e.Except)
		}
		if !strings.Contains(page, row+" |\n") {
			t.Errorf("docs/reference.md lacks the row: %s |", row)
		}
	}
}
