package shm

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestGone truncates a file whose memory several goroutines use. It ends the test's process where that is not met.
func TestGone(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "rivulet-test-")
	if err != nil {
		t.Skip("no tmpfs here: ", err)
	}
	defer os.Remove(f.Name())
	d, err := Create(f, 32<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Guard(func() { d.Tick(1) }); err != nil {
		t.Error(err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	gone := make(chan error, 4)
	for range cap(gone) {
		wg.Go(func() {
			gone <- d.Guard(func() {
				for i := range int64(1000) {
					d.Tick(i)
				}
			})
		})
	}
	wg.Wait()
	met := 0
	for range cap(gone) {
		if err := <-gone; errors.Is(err, ErrGone) {
			met++
		} else if err != nil {
			t.Error(err)
		}
	}
	if met == 0 {
		t.Error("nobody met with the fault")
	}
	d.Tick(2) // without a guard
	if d.IsOpen() {
		t.Error("the memory in the file's place is not zero")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	// What is none of the file's faults is not hidden.
	defer func() {
		if recover() == nil {
			t.Error("another panic was hidden")
		}
	}()
	d.Guard(func() { panic("ours") })
}

func TestText(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	d.Tick(12345)
	d.store32(wire.HEpoch, 7)
	d.store(wire.HMagic, wire.Magic)
	for _, want := range []string{"H_TICK           12345\n", "H_EPOCH          7\n", fmt.Sprintf("H_MAGIC          %#x\n", uint64(wire.Magic))} {
		if text := d.Text(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
