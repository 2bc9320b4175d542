package images

import (
	"reflect"
	"strings"
	"testing"
)

// TestKernel names functions of the kernel by a list as /proc/kallsyms has it.
func TestKernel(t *testing.T) {
	const list = `ffffffff81000100 t local_first
ffffffff81000100 T global
ffffffff81000100 T other
ffffffff81000000 T _text
ffffffff81000200 D data
ffffffffc0000000 t probe	[module]
0000000000000000 T hidden
ffffffff8100zzzz T odd
ffffffff81000300 TT odd
ffffffff81000300
`
	all := kernelSymbols(strings.NewReader(list))
	want := []symbol{{at: 0xffffffff81000000, name: "_text"}, {at: 0xffffffff81000100, name: "global"}, {at: 0xffffffffc0000000, name: "probe"}}
	if !reflect.DeepEqual(all, want) {
		t.Fatalf("%+v", all)
	}
	k := Kernel{read: true, symbols: all}
	for range 2 {
		for at, name := range map[uint64]string{
			0xffffffff81000000: "_text", 0xffffffff810000ff: "_text", 0xffffffff81000280: "global", 0xffffffffc0000010: "probe",
			0xffffffff80ffffff: UnknownKernel, 0xffffffffb0000000: UnknownKernel, 7: UnknownKernel,
		} {
			if got := k.Name(at); got != name {
				t.Errorf("%x is in %s, want %s", at, got, name)
			}
		}
	}
}
