package application

import (
	"fmt"
	"strings"
)

// mostPackages is how many a label names.
const mostPackages = 3

// Label names what was folded: "11 levels of org.springframework.web, jakarta.servlet".
func (r *Run) Label() string {
	names, more := r.Packages, ""
	if n := len(names) - mostPackages; n > 1 {
		names, more = names[:mostPackages], fmt.Sprintf(" and %d more", n)
	}
	levels := "levels"
	if r.Levels == 1 {
		levels = "level"
	}
	label := fmt.Sprintf("%d %s of %s%s", r.Levels, levels, strings.Join(names, ", "), more)
	if r.Contexts > int64(r.Levels) {
		label += fmt.Sprintf(", %d call paths", r.Contexts)
	}
	return label
}
