package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// outside matches a paper, or a page, named by a file that the repository does not have.
	outside = regexp.MustCompile(`papers/\d|\b(DESIGN|FIELD|STYLE)\.md`)
	// page matches a page of docs as sources name it.
	page = regexp.MustCompile(`\bdocs/[\w/.-]+\.md\b`)
)

// TestCitations wants papers to be cited by author and section, and pages of docs that sources name to
// be there.
func TestCitations(t *testing.T) {
	const itself = "tools/docs/citations_test.go"
	cited := 0
	for name, text := range files(t, "*.go", "*.java", "*.md", "*.ts", "*.tsx", "*.yml") {
		if name == itself {
			continue
		}
		if m := outside.FindString(text); m != "" {
			t.Errorf("%s cites %s: cite a paper by author, title and section", name, m)
		}
		if strings.HasSuffix(name, ".md") {
			continue // TestLinks has its links
		}
		for _, m := range page.FindAllString(text, -1) {
			cited++
			if _, err := os.Stat(filepath.Join(root, m)); err != nil {
				t.Errorf("%s names %s, which is not there", name, m)
			}
		}
	}
	if cited < 50 {
		t.Errorf("only %d pages are named in sources", cited)
	}
}
