package cli

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/heap"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// mostLevels bounds the context of an allocation: the innermost methods of recursion that is deeper.
const mostLevels = 200

// loadSites reads which contexts of a recording allocate.
func (a *app) loadSites(file string) (heap.Sites, error) {
	r, err := a.loadReport(file)
	if err != nil {
		return nil, err
	}
	if r.Tree == nil || r.Tree.Metrics.Index(metric.Objects.Name) < 0 {
		return nil, usage("%s: it says nothing of allocations; record with --count allocations", file)
	}
	return sitesOf(r), nil
}

// sitesOf are the contexts of all threads that allocate.
func sitesOf(r *export.Report) heap.Sites {
	sites := heap.Sites{}
	var path []string
	cct.Walk(cct.Merge(r.Tree.Roots()), func(n *cct.Node, _ int) bool {
		path = append(path, r.Method(n.Method).Name)
		for _, k := range n.Allocs() {
			class := strings.TrimSuffix(strings.TrimSuffix(k.Type.Name, cct.Estimated), cct.OrSubclass)
			s := heap.Site{Method: path[len(path)-1], Context: append([]string(nil), path[max(len(path)-mostLevels, 0):]...), Objects: k.Objects}
			if k.Bytes >= 0 {
				s.Bytes = &k.Bytes
			}
			sites[class] = append(sites[class], s)
		}
		return true
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	return sites
}
