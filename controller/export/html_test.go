package export_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// pageData is the JSON that an HTML page unpacks.
func pageData(t *testing.T, page string) string {
	t.Helper()
	_, data, ok := strings.Cut(page, `"packed":"`)
	data, _, ok2 := strings.Cut(data, `"`)
	if !ok || !ok2 {
		t.Fatal("the page has no data")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLargePage has a page of 100,000 call paths and 3,000 methods stay below 2 MB, though
// no two times of it are alike; and reads each figure of the tree back.
func TestLargePage(t *testing.T) {
	const contexts, names, most = 100_000, 3_000, 2_000_000
	random := rand.New(rand.NewPCG(31, 31))
	root := node(0, 1000, 0, 1e6)
	all := []*cct.Node{root}
	has := map[[2]int]bool{}
	for len(all) < contexts {
		above, method := random.IntN(len(all)), random.IntN(names)
		if has[[2]int{above, method}] {
			continue
		}
		has[[2]int{above, method}] = true
		n := node(int32(method), 1+int64(random.ExpFloat64()*1000), 0, int64(random.ExpFloat64()*1e6))
		n.Error = n.Self / 50
		all[above].Children = append(all[above].Children, n)
		all = append(all, n)
	}
	r := report()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1000, RootReturns: 1000, Roots: cct.Merge([]*cct.Node{root})}}}
	r.Lookup = func(id int32) (cct.Method, bool) {
		return cct.Method{
			Name:   fmt.Sprintf("com.example.shop.part%d.Service%d.handle%d(Lcom/example/shop/Order;I)V", id%40, id/10, id),
			Loader: "app", Source: fmt.Sprintf("Service%d.java", id/10), Line: int(id%900) + 1,
		}, true
	}
	page := write(t, r.HTML)
	if len(page) >= most {
		t.Errorf("%d call paths take %d bytes, allowed are %d", contexts, len(page), most)
	}
	var data struct{ Nodes [][]int64 }
	if err := json.Unmarshal([]byte(pageData(t, page)), &data); err != nil {
		t.Fatal(err)
	}
	roots := cct.Merge(r.Tree.Roots())
	cct.Sort(roots)
	i := 0
	for n, depth := range cct.All(roots) {
		beyond := n.Total - n.Self
		for _, c := range n.Children {
			beyond -= c.Total
		}
		for k, v := range map[int]int64{0: int64(depth), 2: n.Calls, 3: n.Thrown, 4: n.Self, 5: beyond, 6: n.Error} {
			if data.Nodes[k][i] != v {
				t.Fatalf("figure %d of node %d is %d, want %d", k, i, data.Nodes[k][i], v)
			}
		}
		i++
	}
	if i != contexts || len(data.Nodes[0]) != contexts {
		t.Errorf("%d call paths of %d, want %d", len(data.Nodes[0]), i, contexts)
	}
	t.Logf("%d bytes", len(page))
}
