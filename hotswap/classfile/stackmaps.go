package classfile

import (
	"bytes"
	"errors"
	"slices"
)

// ErrOtherClass reports bytes that are not those of the class file.
var ErrOtherClass = errors.New("its class file is not what is loaded")

// WithStackMaps returns bytes with stack maps (§4.7.4) for a class as a JVM
// hands it to a transformer: b itself if it has all that it needs, file if b
// lacks stack maps and otherwise has the same constants and code. HotSpot
// keeps the stack maps only of classes that it verifies, which those of the
// boot loader are not. The error is ErrOtherClass, or says what can't be read.
func WithStackMaps(b, file []byte) ([]byte, error) {
	c, err := Parse(b)
	if err != nil {
		return nil, err
	}
	f, err := Parse(file)
	if err != nil {
		return nil, err
	}
	lacks, same := false, samePool(&c.Pool, &f.Pool) && len(c.Methods) == len(f.Methods)
	var x, y Code
	for i := range f.Methods {
		m := c.Method(f.Methods[i].Name, f.Methods[i].Desc)
		if m == nil {
			return nil, ErrOtherClass
		}
		hasX, err := c.ReadCode(m, &x)
		if err != nil {
			return nil, err
		}
		hasY, err := f.ReadCode(&f.Methods[i], &y)
		if err != nil {
			return nil, err
		}
		same = same && hasX == hasY && (!hasX || bytes.Equal(x.Bytecode, y.Bytecode) && slices.Equal(x.Handlers, y.Handlers))
		lacks = lacks || hasX && hasY && x.Attribute(AttrStackMapTable) == nil && y.Attribute(AttrStackMapTable) != nil
	}
	switch {
	case !lacks:
		return b, nil
	case !same:
		return nil, ErrOtherClass
	}
	return file, nil
}

// samePool reports whether all constants are the same. A JVM may append some.
func samePool(p, file *Pool) bool {
	return bytes.HasPrefix(p.raw, file.raw)
}
