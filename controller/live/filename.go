package live

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

// FileName is what the file of a recording is called, without its ending: the program, the root or
// the name that somebody gave, and when it was taken, in letters that every file system has.
// Source 0 is the recording that is on, or the last.
func (l *Live) FileName(id int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.snapshot(id); s != nil {
		i := s.info()
		return fileName(i.Target, i.Name, i.When)
	}
	root := ""
	if roots := l.recording.Roots; len(roots) > 0 {
		root = shortRoot(roots[0])
	}
	return fileName(l.target.Main, root, time.Now())
}

// shortRoot is class and method of a root.
func shortRoot(root string) string {
	root, _, _ = strings.Cut(root, "(")
	parts := strings.Split(root, ".")
	return strings.Join(parts[max(len(parts)-2, 0):], ".")
}

var (
	madeUp  = regexp.MustCompile(`^\d+ (.+?), [^,]+(, opened)?$`) // a snapshot's name that nobody gave
	aDate   = regexp.MustCompile(`\d{4}-?\d\d-?\d\d`)
	endings = regexp.MustCompile(`(?i)(\.(rivulet|jar|json|gz|pb|pprof|collapsed|folded|html?|txt))+$`)
)

// longestPart bounds program and root, in letters: a name has at most 255 with its ending.
const longestPart = 60

// fileName puts a name together, of what is known; what the name says already is not said again.
func fileName(program, name string, when time.Time) string {
	program = program[strings.LastIndexByte(program, '/')+1:]
	if first := strings.Fields(program); len(first) > 0 {
		program = first[0]
	}
	program = plain(endings.ReplaceAllString(program, ""))
	if m := madeUp.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	name = plain(endings.ReplaceAllString(name, ""))
	parts := []string{program, name}
	if name != "" && strings.Contains(name, program) {
		parts = parts[1:]
	}
	if !aDate.MatchString(name) && !when.IsZero() {
		parts = append(parts, when.Local().Format("2006-01-02-1504"))
	}
	out := parts[:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return cmp.Or(strings.Join(out, "-"), "rivulet")
}

// plain replaces what is no letter, digit, dot or underscore of ASCII.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, name)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name[:min(len(name), longestPart)], ".-")
}
