package vmstructs

import (
	"bytes"
	"testing"
)

// TestKnown saves what was invoked, and adds it to another reading.
func TestKnown(t *testing.T) {
	a, b := &Invoked{classes: map[string]map[string]struct{}{}}, &Invoked{classes: map[string]map[string]struct{}{}}
	a.add("shop/Cart", "add(I)V")
	a.add("shop/Cart", "total()J")
	a.add("shop/Price", "of()I")
	b.add("shop/Cart", "total()J")
	b.add("shop/Tax", "of()I")
	var w bytes.Buffer
	if err := a.Save(&w); err != nil {
		t.Fatal(err)
	}
	if err := b.Load(bytes.NewReader(w.Bytes())); err != nil || b.Len() != 4 || !b.Has("shop/Cart", "add", "(I)V") || !b.Has("shop/Tax", "of", "()I") || b.Has("shop/Tax", "add", "(I)V") {
		t.Errorf("%d methods, %v", b.Len(), err)
	}
	if err := b.Load(bytes.NewReader(w.Bytes()[:w.Len()-9])); err == nil {
		t.Error("what is cut off is no error")
	}
	a.Join(b)
	if a.Len() != 4 {
		t.Errorf("joined: %d methods", a.Len())
	}
}
