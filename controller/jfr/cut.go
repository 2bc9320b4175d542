package jfr

import "fmt"

// trim makes a chunk of which the file lacks the end one that ends behind its last whole
// record. Its types are those of the last metadata that is there, and its pools those of the
// checkpoints: a JVM writes both at each flush (JDK 14 and later, once a second), or
// at the chunk's end alone. lacks is the error that says what is missing.
func (c *Chunk) trim(left int64) (lacks *FormatError, err error) {
	lacks = &FormatError{Offset: c.Offset + left, Err: ErrCut}
	whole := c.Size
	c.Size, c.Metadata, c.Checkpoint, c.Cut = left, 0, 0, true
	at := int64(headerSize)
	for at < left {
		size, id, ok, err := c.head(at)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		switch id {
		case metadataID:
			c.Metadata = at
		case checkpointID:
			c.Checkpoint = at
		}
		at += size
	}
	c.Size = at
	if c.Metadata == 0 {
		lacks.What = fmt.Sprintf("a chunk of %d bytes, of which %d are there; the description of its events lay behind that, so none can be read", whole, left)
		return lacks, lacks
	}
	lacks.What = fmt.Sprintf("a chunk of %d bytes, of which %d are there; events up to offset %d were read, and what they name is null where it was to be written behind that",
		whole, left, c.Offset+at)
	return lacks, nil
}

// head reads the size and the type of the record at an offset of the chunk; ok is whether
// all of the record is there.
func (c *Chunk) head(at int64) (size, id int64, ok bool, err error) {
	b := make([]byte, min(longestHead, c.Size-at))
	if err := c.read(b, c.Offset+at); err != nil {
		return 0, 0, false, err
	}
	in := &input{b: b, base: c.Offset + at, compressed: c.compressed}
	size, id = in.int(), in.long()
	if in.err != nil { // the end of the file: a longer head is none
		return 0, 0, false, nil //nolint:nilerr // a record that is cut is what is looked for
	}
	if size < int64(in.at) {
		return 0, 0, false, &FormatError{Offset: c.Offset + at, What: fmt.Sprintf("a record of %d bytes", size)}
	}
	return size, id, size <= c.Size-at, nil
}
