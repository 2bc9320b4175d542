package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// unknown is a Hierarchy that knows nothing.
type unknown struct{}

func (unknown) Class(string) (string, bool, bool) { return "", false, false }

// Frames returns what the locals and the stack of a method hold before the
// instructions at these offsets, which must rise, as stack map frames; classes
// that the pool lacks are appended. It is for code that becomes a branch target
// and has no stack map yet. The method must verify, as far as that can be told
// without a hierarchy; the error says where it does not.
func Frames(c *classfile.Class, m *classfile.Member, offsets []int) ([]classfile.Frame, error) {
	code, err := c.Code(m)
	if err != nil || code == nil {
		return nil, err
	}
	k := checkers.Get().(*checker)
	defer k.free()
	k.reset(c, m, code, unknown{})
	var frames []classfile.Frame
	k.before = func() {
		if len(offsets) == 0 || k.in.Offset != offsets[0] {
			return
		}
		offsets = offsets[1:]
		f := classfile.Frame{Offset: k.in.Offset}
		if f.Locals, err = k.compress(k.now.locals); err == nil {
			f.Stack, err = k.compress(k.now.stack)
		}
		k.failWith(err)
		frames = append(frames, f)
	}
	k.run(code.Attribute(classfile.AttrStackMapTable))
	return frames, k.err
}

// vtags are the tags of stack maps by ours.
var vtags = [...]classfile.VTag{
	tagTop: classfile.VTop, tagInt: classfile.VInteger, tagFloat: classfile.VFloat,
	tagDouble: classfile.VDouble, tagLong: classfile.VLong, tagNull: classfile.VNull,
	tagUninitThis: classfile.VUninitializedThis, tagUninit: classfile.VUninitialized,
	tagObject: classfile.VObject,
}

// compress turns words into stack map types. Words at the end that hold
// nothing are left out.
func (c *checker) compress(words []value) ([]classfile.VType, error) {
	for len(words) > 0 && words[len(words)-1].tag == tagTop {
		words = words[:len(words)-1]
	}
	var ts []classfile.VType
	for _, v := range words {
		if v.tag == tagDouble2 || v.tag == tagLong2 {
			continue
		}
		t := classfile.VType{Tag: vtags[v.tag], Data: v.data}
		if v.tag == tagObject {
			var err error
			if t.Data, err = c.class.Pool.AddClass(v.name); err != nil {
				return nil, err
			}
		}
		ts = append(ts, t)
	}
	return ts, nil
}
