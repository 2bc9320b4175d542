package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// outside matches what names a paper, or a page, by a file that the repository does not have.
	outside = regexp.MustCompile(`papers/\d|\b(DESIGN|FIELD|STYLE)\.md`)
	// page matches a page of docs as sources name it.
	page = regexp.MustCompile(`\bdocs/[\w/.-]+\.md\b`)
	// own are sources that name what is not there, and say so.
	own = map[string]bool{"tools/docs/citations_test.go": true}
)

// TestCitations wants papers to be cited by author and section, and pages of docs that sources name to
// be there.
func TestCitations(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.go", "*.java", "*.md", "*.ts", "*.svelte", "*.yml").Output()
	if err != nil {
		t.Skip("not a Git checkout")
	}
	cited := 0
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSuffix(name, "\n")
		b, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) || own[name] { // removed, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if m := outside.Find(b); m != nil {
			t.Errorf("%s cites %s: cite a paper by author, title and section", name, m)
		}
		if strings.HasSuffix(name, ".md") {
			continue // TestLinks has its links
		}
		for _, m := range page.FindAll(b, -1) {
			cited++
			if _, err := os.Stat(filepath.Join(root, string(m))); err != nil {
				t.Errorf("%s names %s, which is not there", name, m)
			}
		}
	}
	if cited < 50 {
		t.Errorf("only %d pages are named in sources", cited)
	}
}
