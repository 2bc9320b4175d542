package verify

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A tag is the kind of a value in one word of a frame.
type tag uint8

const (
	tagTop tag = iota
	tagInt
	tagFloat
	tagDouble
	tagDouble2 // second word
	tagLong
	tagLong2 // second word
	tagNull
	tagUninitThis
	tagUninit // data is the offset of the new instruction
	tagObject // name is the class
)

var tagNames = [...]string{
	"top", "int", "float", "double", "double_2nd", "long", "long_2nd", "null",
	"uninitializedThis", "uninitialized", "",
}

// A value is what one word of the stack or one local holds.
type value struct {
	name string // of tagObject: internal name or array descriptor
	data uint16 // of tagUninit
	tag  tag
}

func (v value) String() string {
	switch v.tag {
	case tagObject:
		return v.name
	case tagUninit:
		return fmt.Sprintf("uninitialized(%d)", v.data)
	default:
		return tagNames[v.tag]
	}
}

var (
	vTop    = value{}
	vInt    = value{tag: tagInt}
	vFloat  = value{tag: tagFloat}
	vNull   = value{tag: tagNull}
	vLong   = value{tag: tagLong}
	vDouble = value{tag: tagDouble}
)

func object(name string) value { return value{tag: tagObject, name: name} }

// second holds the second word of the kinds that have one, tagTop for others.
var second = [...]tag{tagDouble: tagDouble2, tagLong: tagLong2, tagObject: tagTop}

// reference reports whether v is a class instance, array or null.
func (v value) reference() bool { return v.tag == tagObject || v.tag == tagNull }

// uninitialized reports whether v has no constructor called yet.
func (v value) uninitialized() bool { return v.tag == tagUninit || v.tag == tagUninitThis }

// oneWord reports whether v is a whole value of one word.
func (v value) oneWord() bool {
	return v.tag == tagInt || v.tag == tagFloat || v.reference() || v.uninitialized()
}

// fits reports whether v may stand where want is expected.
func (c *checker) fits(v, want value) bool {
	switch {
	case c.flow.on && want.tag != tagTop:
		return c.fitsOld(v, want)
	case want.tag == tagTop:
		return true
	case v.tag != tagObject || want.tag != tagObject:
		return v == want || v.tag == tagNull && want.tag == tagObject
	}
	return v.name == want.name || assignable(c.classes, v.name, want.name, false)
}

// letterTags are the kinds by the first letter of a descriptor.
var letterTags = [256]tag{
	'B': tagInt, 'C': tagInt, 'I': tagInt, 'S': tagInt, 'Z': tagInt,
	'F': tagFloat, 'D': tagDouble, 'J': tagLong, 'L': tagObject, '[': tagObject,
}

// typeOf returns the value of a field type; the tag is tagTop for V.
func typeOf(desc string) value {
	v := value{tag: letterTags[desc[0]]}
	if v.tag == tagObject {
		v.name = className(desc)
	}
	return v
}

// mapTags are the kinds by those of stack maps.
var mapTags = [...]tag{
	classfile.VTop: tagTop, classfile.VInteger: tagInt, classfile.VFloat: tagFloat,
	classfile.VDouble: tagDouble, classfile.VLong: tagLong, classfile.VNull: tagNull,
	classfile.VUninitializedThis: tagUninitThis, classfile.VObject: tagObject,
	classfile.VUninitialized: tagUninit,
}

// expand appends the words of stack map types.
func (c *checker) expand(to []value, ts []classfile.VType) ([]value, error) {
	for _, t := range ts {
		if t.Tag == entryTag {
			to = append(to, c.entry[t.Data])
			continue
		}
		v := value{tag: mapTags[t.Tag]}
		switch t.Tag {
		case classfile.VObject:
			name, err := c.class.Pool.ClassName(t.Data)
			if err != nil {
				return to, err
			}
			v.name = name
		case classfile.VUninitialized:
			if v.data = t.Data; !c.isNew(int(t.Data)) {
				return to, errNotNew
			}
		}
		to = append(to, v)
		if two := second[v.tag]; two != tagTop {
			to = append(to, value{tag: two})
		}
	}
	return to, nil
}
