package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// demo runs "rivulet demo" and writes its text, and the beginning as a
// picture for the README.
func (t *tool) demo() error {
	cmd := exec.Command(t.rivulet, "demo", "--depth", "5", "--top", "8")
	b, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	text := anonymous.ReplaceAllString(string(b), "shop.jar (pid PID,")
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.out, "demo.txt"), []byte("$ rivulet demo --depth 5 --top 8\n"+text), 0o644); err != nil {
		return err
	}
	images := filepath.Join("docs", "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(images, "demo.svg"), []byte(picture("rivulet demo", strings.Split(text, "\n"))), 0o644)
}

var anonymous = regexp.MustCompile(`\S*demo\.jar \(pid \d+,`)

const (
	lineHeight = 17
	charWidth  = 78 // tenths
	most       = 46 // lines
	widest     = 108
)

// picture draws lines as a terminal would, the hot path in colour.
func picture(title string, text []string) string {
	text = text[:min(len(text), most)]
	width, height := widest*charWidth/10+40, len(text)*lineHeight+64
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="output of %s">`+"\n", width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#10151c"/><text x="20" y="28" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" fill="#7d8a99">$ %s</text>`+"\n", width, height, html.EscapeString(title))
	for i, line := range text {
		fill := "#cdd6e0"
		switch {
		case strings.Contains(line, "  * "):
			fill = "#ffb454"
		case strings.HasPrefix(line, "Calling") || strings.HasPrefix(line, "Hot") || strings.HasPrefix(line, "Instr"):
			fill = "#6cb6ff"
		}
		if r := []rune(line); len(r) > widest {
			line = string(r[:widest-1]) + "…"
		}
		fmt.Fprintf(&b, `<text x="20" y="%d" xml:space="preserve" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" fill="%s">%s</text>`+"\n", 54+i*lineHeight, fill, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
