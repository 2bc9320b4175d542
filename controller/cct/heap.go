package cct

import (
	"cmp"
	"slices"
	"strings"
)

// A HeapSample is what the JVM's own sampling has met of a type that a context allocates on the
// heap: what a compiler has removed isn't there. Bytes are an estimate.
type HeapSample struct {
	Type    string // as in sources
	Via     string // the method without probes that the context calls and that allocates it, or what it calls; "" for the context's own code
	Samples int64
	Bytes   int64
}

// AddHeap adds to the one of its type and method.
func AddHeap(to []HeapSample, s HeapSample) []HeapSample {
	for i := range to {
		if to[i].Type == s.Type && to[i].Via == s.Via {
			to[i].Samples += s.Samples
			to[i].Bytes += s.Bytes
			return to
		}
	}
	return append(to, s)
}

// addHeaps adds another context's. The first list is changed, or made; the second one stays.
func addHeaps(to, more []HeapSample) []HeapSample {
	if to == nil {
		return slices.Clone(more)
	}
	for _, s := range more {
		to = AddHeap(to, s)
	}
	return to
}

// SortedHeap has the most bytes first. It is a copy.
func SortedHeap(list []HeapSample) []HeapSample {
	return slices.SortedFunc(slices.Values(list), compareHeap)
}

// A HeapSum is what was met of a type by one method in trees.
type HeapSum struct {
	HeapSample
	Contexts int64
}

// HeapOf adds up what was met in trees by type and method, the most bytes first.
func HeapOf(roots []*Node) (list []HeapSum) {
	type key struct{ t, via string }
	at := map[key]int{}
	for n := range All(roots) {
		for _, s := range n.Heap() {
			i, ok := at[key{s.Type, s.Via}]
			if !ok {
				i = len(list)
				at[key{s.Type, s.Via}] = i
				list = append(list, HeapSum{HeapSample: HeapSample{Type: s.Type, Via: s.Via}})
			}
			list[i].Samples += s.Samples
			list[i].Bytes += s.Bytes
			list[i].Contexts++
		}
	}
	slices.SortFunc(list, func(a, b HeapSum) int { return compareHeap(a.HeapSample, b.HeapSample) })
	return list
}

func compareHeap(a, b HeapSample) int {
	return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Type, b.Type), strings.Compare(a.Via, b.Via))
}

// typeNames are the primitive types by their letters (JVMS §4.3.2).
var typeNames = map[byte]string{'Z': "boolean", 'C': "char", 'F': "float", 'D': "double", 'B': "byte", 'S': "short", 'I': "int", 'J': "long"}

// SourceType is a type's name as sources have it: of a class in internal form, or an array's descriptor.
func SourceType(name string) string {
	element := strings.TrimLeft(name, "[")
	dims := len(name) - len(element)
	if dims > 0 {
		if p, ok := typeNames[element[0]]; ok && len(element) == 1 {
			element = p
		} else {
			element = strings.TrimSuffix(strings.TrimPrefix(element, "L"), ";")
		}
	}
	return strings.ReplaceAll(element, "/", ".") + strings.Repeat("[]", dims)
}
