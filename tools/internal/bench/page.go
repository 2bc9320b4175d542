package bench

import (
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A Page is Markdown that grows while it is measured. What is added is printed
// at once, since a run may take an hour.
type Page struct {
	text   strings.Builder
	run    string   // ends each section's intro
	left   []string // for below the table
	failed error
}

// NewPage begins a page that a task writes.
func NewPage(task, title, intro string) *Page {
	p := &Page{}
	p.add(fmt.Sprintf("<!-- Written by \"go tool task %s\". Do not edit. -->\n\n# %s\n\n%s\n", task, title, intro))
	return p
}

func (p *Page) add(text string) {
	p.text.WriteString(text)
	fmt.Print(text)
}

// Measured says where and when, for what is not measured by this process itself.
func (p *Page) Measured(text string) { p.run = " " + text }

// Table begins a section with a table of what this run measures.
func (p *Page) Table(title, intro string, headings ...string) {
	p.Quote(title, intro+p.run, headings...)
}

// Quote begins a section with a table of what others measured.
func (p *Page) Quote(title, intro string, headings ...string) {
	p.end()
	p.add(fmt.Sprintf("\n## %s\n\n%s\n", title, intro))
	p.Header(headings...)
}

// Header begins a table. A heading that ends in "|" is of a column of text; the
// others are numbers.
func (p *Page) Header(headings ...string) {
	names, line := make([]string, len(headings)), "|"
	for i, h := range headings {
		name, text := strings.CutSuffix(h, "|")
		names[i] = name
		if text {
			line += "---|"
		} else {
			line += "---:|"
		}
	}
	p.add(fmt.Sprintf("\n| %s |\n%s\n", strings.Join(names, " | "), line))
}

// Row adds a row. Numbers become text by [Number].
func (p *Page) Row(cells ...any) {
	out := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case float64:
			out[i] = Number(c)
		default:
			out[i] = fmt.Sprint(c)
		}
	}
	p.add("| " + strings.Join(out, " | ") + " |\n")
}

// leftOut begins what [Page.Left] says.
const leftOut = "Left out: "

// Left says, below the table, what it lacks and why: what is known not to be had.
func (p *Page) Left(what string, why error) {
	first, _, _ := strings.Cut(why.Error(), "\n") // the rest is what a program printed
	p.left = append(p.left, fmt.Sprintf(leftOut+"%s: %s.", what, first))
	log.Printf("left out: %s: %v", what, why)
}

// Failed is Left for what should not have failed. The others take an hour, so the
// page is measured to its end, and then the task fails.
func (p *Page) Failed(what string, err error) {
	p.Left(what, err)
	p.failed = errors.Join(p.failed, fmt.Errorf("%s: %w", what, err))
}

// end ends a table.
func (p *Page) end() {
	for _, why := range p.left {
		p.Text(why)
	}
	p.left = nil
}

// Text adds a paragraph.
func (p *Page) Text(text string) { p.add("\n" + text + "\n") }

// Update replaces those sections of the page in docs/figures that this one has,
// and leaves the others: for pages that are measured in parts.
func (p *Page) Update(name string) error {
	b, err := os.ReadFile(filepath.Join("docs", "figures", name))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	p.merge(string(b))
	return p.Write(name)
}

// section marks where one begins.
const section = "\n## "

func (p *Page) merge(old string) {
	title := func(part string) string { line, _, _ := strings.Cut(part, "\n"); return line }
	fresh := strings.Split(p.text.String(), section)
	have := map[string]string{}
	for _, part := range fresh[1:] {
		have[title(part)] = part
	}
	var out strings.Builder
	out.WriteString(fresh[0])
	write := func(part string) { out.WriteString(section + strings.TrimRight(part, "\n") + "\n") }
	if parts := strings.Split(old, section); len(parts) > 1 {
		for _, part := range parts[1:] {
			if newer, ok := have[title(part)]; ok {
				delete(have, title(part))
				part = newer
			}
			write(part)
		}
	}
	for _, part := range fresh[1:] {
		if _, ok := have[title(part)]; ok {
			write(part)
		}
	}
	p.text = strings.Builder{}
	p.text.WriteString(out.String())
}

// Write writes the page to docs/figures.
func (p *Page) Write(name string) error {
	folder := filepath.Join("docs", "figures")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(p.text.String()), 0o644)
}

// Number writes a figure with three digits or so; "-" for what is not known.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 1000:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
