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
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// pageData is the JSON that an HTML page unpacks.
func pageData(t *testing.T, page string) string {
	t.Helper()
	_, data, ok := strings.Cut(page, `id="data">"`)
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
	root.Raw = 2e6
	all := []*cct.Node{root}
	has := map[[2]int]bool{}
	for len(all) < contexts {
		above, method := random.IntN(len(all)), random.IntN(names)
		if has[[2]int{above, method}] {
			continue
		}
		has[[2]int{above, method}] = true
		n := node(int32(method), 1+int64(random.ExpFloat64()*1000), 0, int64(random.ExpFloat64()*1e6))
		n.Error, n.Raw = int64(random.ExpFloat64()*1e4), n.Self+20*n.Calls+random.Int64N(1000)
		n.Thrown = int64(random.IntN(40) / 39)
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
	var data struct{ Tree [][]int64 }
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
		for k, v := range map[int]int64{0: int64(depth), 2: n.Calls, 3: n.Thrown, 4: n.Self, 5: beyond} {
			var got int64
			if len(data.Tree[k]) > 0 { // else all are 0
				got = data.Tree[k][i]
			}
			if got != v {
				t.Fatalf("figure %d of node %d is %d, want %d", k, i, got, v)
			}
		}
		for k, v := range map[int]int64{6: n.Error, 7: n.Raw - n.Self} {
			if got := data.Tree[k][i]; 200*max(got-v, v-got) > v {
				t.Fatalf("figure %d of node %d is %d, want %d by three digits", k, i, got, v)
			}
		}
		i++
	}
	if i != contexts || len(data.Tree[0]) != contexts {
		t.Errorf("%d call paths of %d, want %d", len(data.Tree[0]), i, contexts)
	}
	t.Logf("%d bytes", len(page))
}

// TestPageProgram has the program in each report hold nothing that would end its element, or
// fetch anything.
func TestPageProgram(t *testing.T) {
	page := write(t, report().HTML)
	text, _, _ := strings.Cut(page, "<script")
	if want := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(write(t, func(w io.Writer) error { return report().Text(w, export.TextOptions{Top: export.DefaultTop}) })); !strings.Contains(text, want) {
		t.Error("without its program, the page is not the text report")
	}
	program := page[strings.LastIndex(page, "<script type=\"module\">"):]
	if n := strings.Count(program, "</script"); n != 1 || strings.Contains(program, "<!--") {
		t.Errorf("%d ends of the program, or a comment of HTML in it", n)
	}
	text = strings.ReplaceAll(page, "http://www.w3.org/", "") // names of XML, not fetched
	for _, bad := range []string{"http://", "https://", "src=\"", "href=\"", " style=\"", "eval("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
}
