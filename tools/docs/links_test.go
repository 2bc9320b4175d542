// Package docs holds the repository's Markdown against itself and against the command line.
package docs

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rivulet-profiler/rivulet/cli"
)

const root = "../.."

// pages are the Markdown files of the repository that Git has, with their text.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return files(t, "*.md")
}

// files are those of the repository that Git has, and whose names match a pattern of Git's, with their text.
func files(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", root, "ls-files", "--cached", "--others", "--exclude-standard"}, patterns...)...).Output()
	if err != nil {
		t.Skip("not a Git checkout")
	}
	text := map[string]string{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSuffix(name, "\n")
		b, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // removed, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
	}
	if len(text) == 0 {
		t.Fatal("no files found")
	}
	return text
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.*)$`)
	inLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	span    = regexp.MustCompile("`[^`]*`")
)

// lines are those outside of fenced blocks.
func lines(text string) (out []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// anchors are what GitHub makes of a page's headings.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, line := range lines(text) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(inLink.ReplaceAllString(m[1], "$1")) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		out[b.String()] = true
	}
	return out
}

// TestLinks wants every relative link and anchor in a page to lead somewhere.
func TestLinks(t *testing.T) {
	text := pages(t)
	for page := range text {
		for _, line := range lines(text[page]) {
			for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(line, ""), -1) {
				u, err := url.Parse(m[1])
				if err != nil {
					t.Errorf("%s: %s: %v", page, m[1], err)
					continue
				}
				if u.Scheme != "" {
					continue
				}
				to := page
				if u.Path != "" {
					to = filepath.Join(filepath.Dir(page), u.Path)
				}
				if _, err := fs.Stat(os.DirFS(root), filepath.ToSlash(to)); err != nil {
					t.Errorf("%s: %s leads nowhere", page, m[1])
				} else if u.Fragment != "" && !anchors(text[to])[u.Fragment] {
					t.Errorf("%s: %s: %s has no such heading", page, m[1], to)
				}
			}
		}
	}
}

// TestReference wants every command and every flag on docs/reference.md.
func TestReference(t *testing.T) {
	page := pages(t)["docs/reference.md"]
	help := func(args ...string) string {
		var out bytes.Buffer
		if code := cli.Main(append(args, "--help"), strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%v --help: exit code %d: %s", args, code, &out)
		}
		return out.String()
	}
	_, list, _ := strings.Cut(help(), "Examples:\n")
	_, list, _ = strings.Cut(list, "\n\n") // commands in groups follow
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	commands := 0
	for line := range strings.Lines(list) {
		line, ok := strings.CutPrefix(line, "  ")
		command, _, _ := strings.Cut(line, " ")
		if !ok || command == "help" {
			continue // a group's title
		}
		commands++
		if !strings.Contains(page, "`rivulet "+command+" ") && !strings.Contains(page, "`rivulet "+command+"`") {
			t.Errorf("docs/reference.md says nothing of the command %s", command)
		}
		_, text, _ := strings.Cut(help(command), "\nFlags:\n")
		for _, m := range flags.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(page, "`"+m[1]+" ") && !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("docs/reference.md says nothing of %s's %s", command, m[1])
			}
		}
	}
	if commands < 30 {
		t.Errorf("only %d commands found in the help", commands)
	}
}
