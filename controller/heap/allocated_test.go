package heap

import (
	"bytes"
	"strings"
	"testing"
)

// TestJoin says of classes and of suspects' parts who has allocated them.
func TestJoin(t *testing.T) {
	size := int64(240)
	sites := Sites{
		"shop.Session":      {{Method: "shop.Login.open()V", Context: []string{"shop.Web.handle(I)V", "shop.Login.open()V"}, Objects: 10, Bytes: &size}, {Method: "shop.Restore.all()V", Context: []string{"shop.Restore.all()V"}, Objects: 30}},
		"shop.Web$$Lambda":  {{Method: "shop.Web.handle(I)V", Context: []string{"shop.Web.handle(I)V"}, Objects: 1}},
		"shop.NotInTheHeap": {{Method: "shop.Web.handle(I)V", Context: []string{"shop.Web.handle(I)V"}, Objects: 1}},
		"many":              make([]Site, mostSites+3),
	}
	r := &Report{
		Classes:  []ClassStat{{Class: "shop.Session", Objects: 12}, {Class: "java.lang.Thread", Objects: 3}, {Class: "shop.Web$$Lambda$14/0x0000", Objects: 1}, {Class: "many", Objects: 1}},
		Suspects: []Suspect{{Class: "shop.Cache", Why: "It grows.", Parts: []Part{{Class: "shop.Session", Objects: 11, Shallow: 264}, {Class: "byte[]"}}}},
	}
	r.Join("rec.json", sites)
	a := r.Classes[0].Allocated
	if a == nil || a.Objects != 40 || a.Contexts != 2 || a.Top[0].Method != "shop.Restore.all()V" || a.Top[1].Bytes != &size {
		t.Errorf("session: %+v", a)
	}
	if r.Classes[1].Allocated != nil || r.Classes[2].Allocated == nil {
		t.Errorf("a thread: %+v, a lambda: %+v", r.Classes[1].Allocated, r.Classes[2].Allocated)
	}
	if m := r.Classes[3].Allocated; m.Contexts != mostSites+3 || len(m.Top) != mostSites {
		t.Errorf("many: %+v", m)
	}
	if p := r.Suspects[0].Parts; p[0].Allocated == nil || p[0].Allocated.Objects != 40 || p[1].Allocated != nil {
		t.Errorf("parts: %+v", p)
	}
	var text bytes.Buffer
	if err := r.Text(&text, TextOptions{Top: 10}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"who allocated them, by rec.json",
		"12 alive  shop.Session",
		"40 allocated while recorded, in 2 contexts",
		"10 by shop.Login.open < shop.Web.handle",
		"11 shop.Session, 264 B",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
