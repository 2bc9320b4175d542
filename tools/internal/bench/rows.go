package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// UpdateRows replaces those rows of the page in docs/figures that this one has:
// for pages of which some programs were measured apart, which the section says.
// Sections that the page does not have are added.
func (p *Page) UpdateRows(name string) error {
	b, err := os.ReadFile(filepath.Join("docs", "figures", name))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	p.mergeRows(string(b))
	return p.Update(name)
}

// mergeRows completes this page's sections with what another one has of them.
func (p *Page) mergeRows(old string) {
	known := map[string]*tabled{}
	for _, part := range strings.Split(old, section)[1:] {
		if t := takeApart(part); t != nil {
			known[t.title] = t
		}
	}
	parts := strings.Split(p.text.String(), section)
	for i, part := range parts[1:] {
		if t := takeApart(part); t != nil && known[t.title] != nil {
			parts[i+1] = known[t.title].with(t, p.run)
		}
	}
	p.text = strings.Builder{}
	p.text.WriteString(strings.Join(parts, section))
}

// A tabled is a section with one table.
type tabled struct {
	title, intro string
	head         [2]string
	rows         []string
	notes        []string // paragraphs below
}

// takeApart returns nil for a section without a table.
func takeApart(part string) *tabled {
	lines := strings.Split(strings.TrimRight(part, "\n"), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| ") })
	if at < 0 || at+1 == len(lines) {
		return nil
	}
	t := &tabled{title: lines[0], intro: strings.TrimSpace(strings.Join(lines[1:at], "\n")), head: [2]string(lines[at : at+2])}
	rest := lines[at+2:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "|") {
		t.rows, rest = append(t.rows, rest[0]), rest[1:]
	}
	for _, l := range rest {
		if l != "" {
			t.notes = append(t.notes, l)
		}
	}
	return t
}

// key is what a row is of: its first columns, those of text.
func (t *tabled) key(row string) string {
	kinds := strings.Split(strings.Trim(t.head[1], "|"), "|")
	names := max(1, slices.IndexFunc(kinds, func(k string) bool { return strings.HasSuffix(k, ":") }))
	cells := strings.Split(strings.Trim(row, "| "), " | ")
	return strings.Join(cells[:min(names, len(cells))], ", ")
}

// first is the first part of a key or of what is left out: the program, in most tables.
func first(key string) string {
	name, _, _ := strings.Cut(key, ", ")
	return name
}

const apart = "Apart: "

// lacks is what a note says is left out, empty for other notes.
func lacks(note string) string {
	rest, ok := strings.CutPrefix(note, leftOut)
	if !ok {
		return ""
	}
	what, _, _ := strings.Cut(rest, ": ")
	return what
}

// with is the section with the rows of a newer one in place of its own. The
// newer one's intro ends with what it was measured on.
func (t *tabled) with(newer *tabled, run string) string {
	fresh := map[string][]string{}
	var keys []string
	for _, row := range newer.rows {
		k := newer.key(row)
		if fresh[k] == nil {
			keys = append(keys, k)
		}
		fresh[k] = append(fresh[k], row)
	}
	var rows []string
	done := map[string]bool{}
	for _, row := range t.rows {
		switch k := t.key(row); {
		case fresh[k] == nil:
			rows = append(rows, row)
		case !done[k]:
			done[k] = true
			rows = append(rows, fresh[k]...)
		}
	}
	for _, k := range keys {
		if done[k] {
			continue
		}
		at := len(rows) // below those of the same program, where there are any
		for i, row := range slices.Backward(rows) {
			if first(t.key(row)) == first(k) {
				at = i + 1
				break
			}
		}
		rows = slices.Insert(rows, at, fresh[k]...)
	}
	var notes []string
	for _, note := range t.notes {
		if list, of, ok := strings.Cut(strings.TrimPrefix(note, apart), ". "); ok && strings.HasPrefix(note, apart) {
			still := slices.DeleteFunc(strings.Split(list, "; "), func(k string) bool { return fresh[k] != nil })
			if len(still) > 0 {
				notes = append(notes, apart+strings.Join(still, "; ")+". "+of)
			}
			continue
		}
		what := lacks(note)
		here := slices.ContainsFunc(keys, func(k string) bool { return k == what || first(k) == what })
		if what == "" || !here && !slices.ContainsFunc(newer.notes, func(n string) bool { return lacks(n) == what }) {
			notes = append(notes, note)
		}
	}
	notes = append(notes, newer.notes...)
	if len(keys) > 0 {
		notes = append(notes, apart+strings.Join(keys, "; ")+". "+strings.TrimSpace(run))
	}
	intro := newer.intro
	if at := strings.LastIndex(t.intro, " Measured on "); at >= 0 {
		intro = strings.TrimSuffix(intro, run) + t.intro[at:]
	}
	out := t.title + "\n\n" + intro + "\n\n" + newer.head[0] + "\n" + newer.head[1] + "\n" + strings.Join(rows, "\n") + "\n"
	for _, n := range notes {
		out += "\n" + n + "\n"
	}
	return out
}
