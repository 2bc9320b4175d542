package jdkcalls

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// An Image reads class files out of a JDK's runtime image, lib/modules (jimage, see
// jdk.internal.jimage.ImageHeader and ImageLocation). It reads only; what it is
// given is checked before it is believed. It is safe for concurrent use.
type Image struct {
	r       io.ReaderAt
	content int64
	classes map[string]place // by name
}

type place struct {
	offset, size int64
	packed       bool
}

const (
	imageMagic   = 0xcafedada
	imageVersion = 1 << 16 // 1.0
	imageHeader  = 7 * 4
	imageIndex   = 64 << 20 // bounds what stands before the content
)

// Attributes of a location. A byte has the kind and, in its low three bits, how many
// bytes of value follow, less one.
const (
	attrEnd = iota
	attrModule
	attrParent
	attrBase
	attrExtension
	attrOffset
	attrCompressed
	attrUncompressed
	attrKinds
)

// ErrImage reports what is no runtime image that this package can read.
var ErrImage = errors.New("no runtime image")

// NewImage reads the index of an image.
func NewImage(r io.ReaderAt) (*Image, error) {
	var h [imageHeader]byte
	if _, err := r.ReadAt(h[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	word := func(i int) int64 { return int64(binary.NativeEndian.Uint32(h[4*i:])) }
	if word(0) != imageMagic || word(1) != imageVersion {
		return nil, fmt.Errorf("%w: it begins with %x", ErrImage, h[:8])
	}
	length, locations, strings := word(4), word(5), word(6)
	size := length*8 + locations + strings // redirects and offsets, locations, strings
	if size > imageIndex {
		return nil, fmt.Errorf("%w: an index of %d bytes", ErrImage, size)
	}
	b := make([]byte, size)
	if _, err := r.ReadAt(b, imageHeader); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	m := &Image{r: r, content: imageHeader + size, classes: make(map[string]place, length)}
	offsets, at := b[length*4:length*8], b[length*8:length*8+locations]
	texts := b[length*8+locations:]
	for i := range length {
		o := int64(binary.NativeEndian.Uint32(offsets[4*i:]))
		if o >= locations {
			return nil, fmt.Errorf("%w: a location at %d of %d", ErrImage, o, locations)
		}
		if err := m.location(at[o:], texts); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// location takes note of one class.
func (m *Image) location(b, texts []byte) error {
	var v [attrKinds]uint64
	for len(b) > 0 {
		kind, n := b[0]>>3, int(b[0]&7)+1
		if kind == attrEnd {
			break
		}
		if kind >= attrKinds || len(b) < 1+n {
			return fmt.Errorf("%w: a location with attribute %d", ErrImage, kind)
		}
		v[kind] = 0
		for _, x := range b[1 : 1+n] {
			v[kind] = v[kind]<<8 | uint64(x)
		}
		b = b[1+n:]
	}
	if string(text(texts, v[attrExtension])) != "class" || len(text(texts, v[attrModule])) == 0 {
		return nil
	}
	name := string(text(texts, v[attrBase]))
	if parent := text(texts, v[attrParent]); len(parent) > 0 {
		name = string(parent) + "/" + name
	}
	p := place{int64(v[attrOffset]), int64(v[attrUncompressed]), v[attrCompressed] > 0}
	if p.offset < 0 || p.size < 0 || p.size > largestClass {
		return fmt.Errorf("%w: %s of %d bytes at %d", ErrImage, name, p.size, p.offset)
	}
	m.classes[name] = p
	return nil
}

// largestClass bounds a class file.
const largestClass = 16 << 20

// text returns the string at an offset, in the memory of b.
func text(b []byte, at uint64) []byte {
	if at >= uint64(len(b)) {
		return nil
	}
	b = b[at:]
	return b[:max(bytes.IndexByte(b, 0), 0)]
}

// Class returns a class file. The error wraps [fs.ErrNotExist] where the image has no
// class of this name, and [ErrImage] where it can't be read.
func (m *Image) Class(name string) ([]byte, error) {
	p, ok := m.classes[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case p.packed:
		return nil, fmt.Errorf("%s: %w: it is compressed (jlink --compress)", name, ErrImage)
	}
	b := make([]byte, p.size)
	if _, err := m.r.ReadAt(b, m.content+p.offset); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrImage, err)
	}
	return b, nil
}

// Len returns how many classes there are.
func (m *Image) Len() int { return len(m.classes) }
