package unwinder

import (
	"bytes"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A blobKind says what is in a blob, by which a frame of it is left.
type blobKind uint8

const (
	compiled      blobKind = iota // an nmethod
	nativeWrapper                 // an nmethod that calls a native method
	interpreter
	stubRoutine // StubRoutines, intrinsics and the like: with a frame or without
	adapter     // between interpreted and compiled code
	frameless   // vtable stubs and others without a frame
	runtimeStub // with a frame of fixed size, or one that is not known
)

// headerSize is how much of a blob's header is read: all of an nmethod's, in every version.
const headerSize = 384

// A blob is a piece of code in the code cache.
type blob struct {
	at, size           uint64
	codeBegin, codeEnd uint64
	frame              int64 // bytes; 0 or less: not known
	complete           int64 // from here on in the code the frame is whole; -1: never
	kind               blobKind
	name               string
	nm                 nmethod                 // if compiled or nativeWrapper
	proof              []byte                  // header as it was
	checked            int64                   // when it was last as it was
	pending            bool                    // to be compared again
	dead               bool                    // it changed
	code               []byte                  // all of the blob's bytes; nil: not read
	immutable, mutable []byte                  // 23 and later
	frames             map[int64][]stack.Frame // by where their scopes begin
}

// An nmethod is what a blob of compiled code has beyond.
type nmethod struct {
	method             uint64
	id                 uint32 // of the compilation: unique
	level              uint8
	osr                bool
	entry              uint64
	deopt, deoptMH     uint64
	origPC             int64
	scopes, scopesEnd  uint64 // offsets in the blob, or in the immutable data
	descs, descsEnd    uint64
	metadata, metaEnd  uint64 // in the blob, or in the mutable data
	immutableAt        uint64
	immutableSize      uint64
	mutableAt, mutable uint64 // address and size
}

// readBlob reads a blob's header.
func (u *Unwinder) readBlob(at, end uint64) *blob {
	l := u.l
	n := min(headerSize, int(end-at))
	p := u.bytes(at, n)
	for p == nil && n > 128 { // the end of what is committed
		n /= 2
		p = u.bytes(at, n)
	}
	b := &blob{at: at, size: uint64(half(p, l.BlobSize)), proof: p, checked: u.now}
	if b.size < minBlob || b.size > maxBlob || at+b.size > end {
		return nil
	}
	if l.BlobCodeBegin != none {
		b.codeBegin, b.codeEnd = word(p, l.BlobCodeBegin), word(p, l.BlobCodeEnd)
	} else {
		b.codeBegin, b.codeEnd = at+uint64(half(p, l.BlobCodeOffset)), at+uint64(half(p, l.BlobDataOffset))
	}
	if b.codeBegin < at || b.codeEnd < b.codeBegin || b.codeEnd > at+b.size {
		return nil
	}
	b.frame = 8 * int64(int32(half(p, l.BlobFrameSize)))
	if b.frame > 8*maxFrame {
		return nil
	}
	if b.complete = int64(int32(half(p, l.BlobComplete))); l.BlobKind != none {
		b.complete = int64(int16(quarter(p, l.BlobComplete)))
	}
	b.name = u.blobName(word(p, l.BlobName))
	b.kind = u.kindOf(b)
	if b.kind == compiled || b.kind == nativeWrapper {
		u.readNmethod(b, p)
	} else { // some headers end within that of an nmethod; what comes then may change
		b.proof = p[:min(len(p), int(max(l.BlobName, l.BlobSize, l.BlobFrameSize)+8))]
	}
	return b
}

// blobName reads the name of a blob, a literal of the JVM's for all but some stubs.
func (u *Unwinder) blobName(at uint64) string {
	if s, ok := u.blobNames[at]; ok {
		return s
	}
	p := u.bytes(at, 64)
	for n := 32; p == nil && n >= 8; n /= 2 {
		p = u.bytes(at, n)
	}
	s := ""
	if i := bytes.IndexByte(p, 0); i >= 0 {
		s = string(p[:i])
	} else if len(p) == 64 {
		s = string(p)
	}
	if len(u.blobNames) > maxPlaces {
		clear(u.blobNames)
	}
	u.blobNames[at] = s
	return s
}

func (u *Unwinder) kindOf(b *blob) blobKind {
	switch {
	case u.interpreter >= b.at && u.interpreter < b.at+b.size:
		return interpreter
	case b.name == "nmethod":
		return compiled
	case b.name == "native nmethod":
		return nativeWrapper
	case strings.HasPrefix(b.name, "StubRoutines"), strings.HasSuffix(b.name, "stubs)"):
		return stubRoutine
	case strings.HasSuffix(b.name, "adapters"):
		return adapter
	case b.name == "vtable chunks", b.name == "InlineCacheBuffer", b.name == "native signature handlers", strings.HasPrefix(b.name, "jni_fast_"):
		return frameless
	default:
		return runtimeStub
	}
}

// readNmethod takes from a header what compiled code has.
func (u *Unwinder) readNmethod(b *blob, p []byte) {
	l, nm := u.l, &b.nm
	nm.method = word(p, l.Method)
	nm.id = half(p, l.CompileID)
	nm.level = uint8(half(p, l.Level))
	nm.osr = int32(half(p, l.EntryBCI)) != -1
	if l.VerifiedEntry != none {
		nm.entry = word(p, l.VerifiedEntry)
	} else {
		nm.entry = b.codeBegin + uint64(quarter(p, l.VerifiedOffset))
	}
	if nm.osr {
		nm.entry = word(p, l.OSREntry)
	}
	if l.Deopt != none {
		nm.deopt, nm.deoptMH = word(p, l.Deopt), word(p, l.DeoptMH)
	} else {
		nm.deopt = b.at + uint64(half(p, l.DeoptOffset))
		if l.DeoptMHOffset != none {
			nm.deoptMH = b.at + uint64(half(p, l.DeoptMHOffset))
		}
	}
	nm.origPC = int64(int32(half(p, l.OrigPC)))
	switch {
	case l.Immutable != none:
		nm.immutableAt, nm.immutableSize = word(p, l.Immutable), uint64(half(p, l.ImmutableSize))
		nm.descs, nm.descsEnd = uint64(half(p, l.ScopesPCs)), uint64(half(p, l.ScopesOffset))
		nm.scopes, nm.scopesEnd = nm.descsEnd, nm.immutableSize
		nm.mutableAt, nm.mutable = word(p, l.BlobMutable), uint64(half(p, l.BlobMutableSize))
		nm.metadata, nm.metaEnd = uint64(half(p, l.BlobRelocation)), nm.mutable
		if l.BlobMutable == none { // 23 and 24 have it in the blob
			nm.metadata, nm.metaEnd = uint64(half(p, l.BlobDataOffset))+uint64(quarter(p, l.Metadata)), b.size
		}
	default:
		nm.descs, nm.descsEnd = uint64(half(p, l.ScopesPCs)), uint64(half(p, l.Dependencies))
		nm.scopes, nm.scopesEnd = uint64(half(p, l.ScopesOffset)), nm.descs
		if l.ScopesData != none {
			nm.scopes = word(p, l.ScopesData) - b.at
		}
		nm.metadata, nm.metaEnd = uint64(half(p, l.Metadata)), nm.scopes
	}
	// What identifies it: its size, frame and name, and what it is compiled from and when.
	// Other fields change while it lives.
	b.proof = p
}

// same reports whether a header is still that of the same code.
func (u *Unwinder) same(b *blob, p []byte) bool {
	l := u.l
	same := half(p, l.BlobSize) == half(b.proof, l.BlobSize) && word(p, l.BlobName) == word(b.proof, l.BlobName) &&
		half(p, l.BlobFrameSize) == half(b.proof, l.BlobFrameSize)
	if b.kind == compiled || b.kind == nativeWrapper {
		same = same && half(p, l.CompileID) == b.nm.id && word(p, l.Method) == b.nm.method
	}
	return same
}

// load reads the code and the debug info of a blob, and forgets those of others if that is
// much. It reports whether there is code.
func (u *Unwinder) load(b *blob) bool {
	if b.code != nil {
		return true
	}
	if u.kept > maxKept {
		for _, o := range u.blobs {
			o.code, o.immutable, o.mutable = nil, nil, nil
		}
		u.kept = 0
	}
	size := b.size
	if b.kind != compiled && b.kind != nativeWrapper {
		size = b.codeEnd - b.at
	}
	at, sizes := []uint64{b.at}, []int{int(size)}
	if b.nm.immutableSize > 0 && b.nm.immutableSize < maxBlob && b.nm.mutable < maxBlob {
		at = append(at, b.nm.immutableAt, b.nm.mutableAt)
		sizes = append(sizes, int(b.nm.immutableSize), int(b.nm.mutable))
	}
	p := u.many(at, sizes)
	if b.code = p[0]; b.code == nil {
		return false
	}
	if len(p) == 3 {
		b.immutable, b.mutable = p[1], p[2]
	}
	u.kept += len(b.code) + len(b.immutable) + len(b.mutable)
	return true
}

// slice returns what a blob has from one address to another; nil outside.
func (b *blob) slice(from, to uint64) []byte {
	if from < b.at || to < from || to-b.at > uint64(len(b.code)) {
		return nil
	}
	return b.code[from-b.at : to-b.at]
}

// whole reports whether the frame is whole at a pc.
func (b *blob) whole(pc uint64) bool {
	return b.complete >= 0 && pc >= b.codeBegin+uint64(b.complete)
}
