package export

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Levels of a stack that forms with a stack for each context write: those at
// the root and those at the end. What lies between becomes one entry, since the
// target's stack may have been twenty thousand levels deep.
const (
	rootLevels = 64
	endLevels  = 192
)

// betweenLevels is the entry that stands for the levels between.
const betweenLevels int32 = -1 << 30

// stacks calls each with every node of some trees and with the methods from the
// root down to it. The slice is good until each returns.
func stacks(roots []*cct.Node, each func(n *cct.Node, stack []int32) error) error {
	var path, short []int32
	var failed error
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		path = append(path, n.Method)
		stack := path
		if len(path) > rootLevels+endLevels+1 {
			short = append(short[:0], path[:rootLevels]...)
			short = append(short, betweenLevels)
			short = append(short, path[len(path)-endLevels:]...)
			stack = short
		}
		if failed == nil {
			failed = each(n, stack)
		}
		return failed == nil
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	return failed
}

// sourceOf is the file of an entry of a stack, in the folders of its package as
// tools look for it, and the line where its code begins; "" and 0 if unknown.
func (r *Report) sourceOf(method int32) (file string, line int64) {
	if method == betweenLevels {
		return "", 0
	}
	m := r.Method(method)
	if m.Source == "" {
		return "", 0
	}
	bare, _, _ := strings.Cut(m.Name, "(")
	parts := strings.Split(bare, ".")
	if len(parts) > 2 {
		file = strings.Join(parts[:len(parts)-2], "/") + "/"
	}
	return file + m.Source, int64(m.Line)
}

// frameName names an entry of a stack.
func (r *Report) frameName(method int32) string {
	if method == betweenLevels {
		return "(levels left out)"
	}
	return r.Method(method).Name
}
