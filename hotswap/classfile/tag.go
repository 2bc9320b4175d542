package classfile

// A Tag is the kind of a constant (JVMS table 4.4-A).
type Tag uint8

// The kinds of constants. TagNone is index 0 and the second half of a long or
// double.
const (
	TagNone               Tag = 0
	TagUtf8               Tag = 1
	TagInteger            Tag = 3
	TagFloat              Tag = 4
	TagLong               Tag = 5
	TagDouble             Tag = 6
	TagClass              Tag = 7
	TagString             Tag = 8
	TagFieldref           Tag = 9
	TagMethodref          Tag = 10
	TagInterfaceMethodref Tag = 11
	TagNameAndType        Tag = 12
	TagMethodHandle       Tag = 15
	TagMethodType         Tag = 16
	TagDynamic            Tag = 17
	TagInvokeDynamic      Tag = 18
	TagModule             Tag = 19
	TagPackage            Tag = 20
)

// A tagSet is a set of tags, one bit each.
type tagSet uint32

func setOf(tags ...Tag) (s tagSet) {
	for _, t := range tags {
		s |= 1 << t
	}
	return s
}

func (s tagSet) has(t Tag) bool { return s>>t&1 != 0 }

// A tagRow says how a constant looks after its tag byte.
type tagRow struct {
	name    string
	section string
	size    int // bytes after the tag; for Utf8 those before the text
	slots   int // pool indices that it takes (§4.4.5)
	refs    []tagRef
}

// A tagRef is an index inside a constant: where it is, counted from the byte
// after the tag, and what it may point to.
type tagRef struct {
	at   int
	want tagSet
}

var (
	wantUtf8        = setOf(TagUtf8)
	wantClass       = setOf(TagClass)
	wantNameAndType = setOf(TagNameAndType)
	wantMember      = setOf(TagFieldref, TagMethodref, TagInterfaceMethodref)

	refUtf8   = []tagRef{{0, wantUtf8}}
	refMember = []tagRef{{0, wantClass}, {2, wantNameAndType}}
	refDyn    = []tagRef{{2, wantNameAndType}} // the first index points into BootstrapMethods
)

// tags is indexed by Tag; a row without a name is no tag. The array is as long
// as a byte's range so that lookups need no check.
var tags = [256]tagRow{
	TagUtf8:               {"Utf8", "4.4.7", 2, 1, nil},
	TagInteger:            {"Integer", "4.4.4", 4, 1, nil},
	TagFloat:              {"Float", "4.4.4", 4, 1, nil},
	TagLong:               {"Long", "4.4.5", 8, 2, nil},
	TagDouble:             {"Double", "4.4.5", 8, 2, nil},
	TagClass:              {"Class", "4.4.1", 2, 1, refUtf8},
	TagString:             {"String", "4.4.3", 2, 1, refUtf8},
	TagFieldref:           {"Fieldref", "4.4.2", 4, 1, refMember},
	TagMethodref:          {"Methodref", "4.4.2", 4, 1, refMember},
	TagInterfaceMethodref: {"InterfaceMethodref", "4.4.2", 4, 1, refMember},
	TagNameAndType:        {"NameAndType", "4.4.6", 4, 1, []tagRef{{0, wantUtf8}, {2, wantUtf8}}},
	TagMethodHandle:       {"MethodHandle", "4.4.8", 3, 1, []tagRef{{1, wantMember}}},
	TagMethodType:         {"MethodType", "4.4.9", 2, 1, refUtf8},
	TagDynamic:            {"Dynamic", "4.4.10", 4, 1, refDyn},
	TagInvokeDynamic:      {"InvokeDynamic", "4.4.10", 4, 1, refDyn},
	TagModule:             {"Module", "4.4.11", 2, 1, refUtf8},
	TagPackage:            {"Package", "4.4.12", 2, 1, refUtf8},
}

func (t Tag) String() string {
	if n := tags[t].name; n != "" {
		return n
	}
	return "none"
}
