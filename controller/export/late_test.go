package export_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestLate writes late methods, reads them back, shows them and merges them.
func TestLate(t *testing.T) {
	r := &export.Report{Late: []export.Late{
		{Method: "shop.B.b()V", After: 1500 * time.Millisecond, Calls: 3},
		{Method: "shop.A.a()V", After: 20 * time.Millisecond, Calls: -1},
	}}
	var b bytes.Buffer
	if err := r.JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"after_ms": 1500`, `"calls_before": 3`, `"calls_before": null`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	back, err := export.ReadJSON(&b)
	if err != nil || !reflect.DeepEqual(back.Late, r.Late) {
		t.Errorf("read back as %+v, %v", back.Late, err)
	}
	var text bytes.Buffer
	if err := r.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	a, z := strings.Index(text.String(), "late: shop.A.a()V, after 20.0 ms\n"), strings.Index(text.String(), "late: shop.B.b()V, after 1.50 s and 3 calls in the whole program")
	if a < 0 || z < a {
		t.Errorf("the text has %q", text.String())
	}
	m := export.Merge(r, &export.Report{Late: []export.Late{{Method: "shop.B.b()V", After: time.Second, Calls: 7}}})
	if len(m.Late) != 2 || m.Late[0] != (export.Late{Method: "shop.B.b()V", After: 1500 * time.Millisecond, Calls: 7}) {
		t.Errorf("merged: %+v", m.Late)
	}
	if m := export.Merge(r, &export.Report{}); m.Late != nil {
		t.Errorf("merged with a report that does not say: %+v", m.Late)
	}
}
