package export

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// leastLabel is what a cut line leaves of its label.
const leastLabel = 16

// terminal knows how many columns a letter takes: two for wide ones (Chinese,
// Japanese, Korean, most emoji), none for combining marks. It doesn't look at
// the locale, so equal reports give equal bytes.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns of a terminal a text takes that [Clean] has seen.
func Width(s string) int { return terminal.StringWidth(s) }

// Fit cuts a text at the end so that it takes width columns at most; "…" stands
// for what is missing.
func Fit(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	return terminal.Truncate(s, max(width, 0), tail(width))
}

// FitTail is as Fit, and cuts at the beginning: of a method's name the end says
// most.
func FitTail(s string, width int) string {
	w := Width(s)
	if w <= width {
		return s
	}
	return terminal.TruncateLeft(s, w-max(width, 0)+Width(tail(width)), tail(width))
}

func tail(width int) string {
	if width < 1 {
		return ""
	}
	return "…"
}

// Pad fits a text and fills it up with blanks to exactly width columns.
func Pad(s string, width int) string {
	s = Fit(s, width)
	return s + strings.Repeat(" ", max(width-Width(s), 0))
}

// fitLabel cuts a table's label and leaves its indentation.
func fitLabel(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	name := strings.TrimLeft(s, " *│├└─")
	indent := s[:len(s)-len(name)]
	room := max(width-Width(indent), leastLabel)
	if strings.HasPrefix(name, "…") { // a fold: the number comes first
		return indent + Fit(name, room)
	}
	note := ""
	if i := strings.IndexAny(name, "(["); i > 0 && name[i-1] == ' ' {
		name, note = name[:i-1], name[i-1:]
	}
	name = FitTail(name, max(room-Width(note), leastLabel))
	return indent + name + Fit(note, room-Width(name))
}

// wrap breaks lines that are wider than the terminal between words. What goes on
// is indented more than its line; words alone are never broken.
func wrap(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if Width(strings.TrimRight(line, "\n")) <= width {
			out.WriteString(line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		at := len(indent)
		out.WriteString(indent)
		for i, word := range strings.Fields(line) {
			switch w := Width(word); {
			case i == 0:
				at += w
			case at+1+w > width:
				out.WriteString("\n" + indent + "  ")
				at = len(indent) + 2 + w
			default:
				out.WriteString(" ")
				at += 1 + w
			}
			out.WriteString(word)
		}
		out.WriteString("\n")
	}
	return out.String()
}
