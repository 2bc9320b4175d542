package unwinder

import (
	"sort"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A scope is one method at a pc of compiled code: the method itself, or one inlined.
type scope struct {
	method uint64 // Method*
	bci    int    // -1: not known
}

// debugInfo are the parts of a blob's debug info.
func (u *Unwinder) debugInfo(b *blob) (descs, scopes, methods []byte) {
	info, metadata := b.code, b.code
	if u.l.Immutable != none {
		info = b.immutable
		if u.l.BlobMutable != none {
			metadata = b.mutable
		}
	}
	nm := &b.nm
	if nm.descs > nm.descsEnd || nm.descsEnd > uint64(len(info)) || nm.scopes > nm.scopesEnd || nm.scopesEnd > uint64(len(info)) ||
		nm.metadata > nm.metaEnd || nm.metaEnd > uint64(len(metadata)) || u.l.DescSize < max(u.l.DescPC, u.l.DescScope)+4 {
		return nil, nil, nil
	}
	return info[nm.descs:nm.descsEnd], info[nm.scopes:nm.scopesEnd], metadata[nm.metadata:nm.metaEnd]
}

// scopeAt finds where the scopes of a pc of compiled code begin. A return address has an
// entry of its own; any other pc gets the next place that has debug info, else the last. It
// is 0 where there is none.
func (u *Unwinder) scopeAt(b *blob, descs []byte, pc uint64) int64 {
	size := int(u.l.DescSize)
	want := int32(pc - b.codeBegin)
	if len(descs) < size {
		return 0
	}
	count := len(descs) / size
	i := sort.Search(count, func(i int) bool { return int32(half(descs, uint64(i*size)+u.l.DescPC)) >= want })
	// The stubs at the end of the code have none: they belong to what comes before.
	for i = min(i, count-1); i >= 0; i-- {
		if at := int64(int32(half(descs, uint64(i*size)+u.l.DescScope))); at > 0 {
			return at
		}
	}
	return 0
}

// decodeScopes decodes which methods the scopes at an offset are, innermost first; nil if
// that makes no sense.
func decodeScopes(scopes, methods []byte, offset int64, excess byte) []scope {
	var out []scope
	for offset > 0 && len(out) < maxScopes {
		if offset >= int64(len(scopes)) {
			return nil
		}
		r := numbers{scopes[offset:], excess, false}
		sender, method, bci := int64(r.next()), int(r.next()), int(r.next())-1
		if r.bad || method <= 0 || method > len(methods)/8 || sender >= offset || bci > maxSymbol {
			return nil
		}
		out = append(out, scope{u64(methods[8*(method-1):]), max(bci, -1)})
		offset = sender
	}
	return out
}

// numbers decodes UNSIGNED5 (CompressedStream).
type numbers struct {
	p      []byte
	excess byte
	bad    bool
}

func (n *numbers) next() uint32 {
	const least = 192 // a byte below is the last
	sum := uint32(0)
	for i := range 5 {
		if len(n.p) == 0 || n.p[0] < n.excess {
			n.bad = true
			return 0
		}
		b := n.p[0]
		n.p = n.p[1:]
		sum += uint32(b-n.excess) << (6 * i)
		if b < least {
			break
		}
	}
	return sum
}

// signed undoes the encoding of signed numbers.
func signed(v uint32) int { return int(int32(v>>1) ^ -int32(v&1)) }

// A line is where the code of a source line begins.
type line struct{ bci, line int }

// decodeLines decodes a compressed line number table.
func decodeLines(p []byte, excess byte) []line {
	var out []line
	at := line{}
	r := numbers{p, excess, false}
	for len(r.p) > 0 && r.p[0] != 0 && len(out) < maxSymbol {
		b := r.p[0]
		r.p = r.p[1:]
		if b == 0xFF {
			at.bci += signed(r.next())
			at.line += signed(r.next())
			if r.bad {
				break
			}
		} else {
			at.bci += int(b >> 3)
			at.line += int(b & 7)
		}
		out = append(out, at)
	}
	sort.SliceStable(out, func(i, k int) bool { return out[i].bci < out[k].bci })
	return out
}

// lineOf returns the line that a bytecode index is in, 0 if that is not known.
func (m *method) lineOf(bci int) int {
	if bci < 0 {
		return 0
	}
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i].bci > bci })
	if i == 0 {
		return 0
	}
	return max(m.lines[i-1].line, 0)
}

// tier is the kind of a compiled frame.
func (b *blob) tier() stack.Kind {
	if b.nm.level >= 1 && b.nm.level <= 3 {
		return stack.C1
	}
	return stack.C2
}
