package cha

import (
	"encoding/binary"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// The JDK marks methods whose bodies a compiler may replace by code of its own:
// calls of such code run no probe.
var intrinsicMarks = map[string]bool{
	"Ljdk/internal/vm/annotation/IntrinsicCandidate;": true, // JDK 16
	"Ljdk/internal/HotSpotIntrinsicCandidate;":        true, // JDK 9
}

// intrinsics of JDK 8 outside of packages that never get probes anyway, from
// its vmSymbols.hpp. It marks none.
var intrinsics = map[string]bool{
	"java/util/Arrays.copyOf": true, "java/util/Arrays.copyOfRange": true, "java/util/Arrays.equals": true,
	"java/math/BigInteger.multiplyToLen": true, "java/math/BigInteger.squareToLen": true, "java/math/BigInteger.implSquareToLen": true,
	"java/math/BigInteger.mulAdd": true, "java/math/BigInteger.implMulAdd": true,
	"java/math/BigInteger.montgomeryMultiply": true, "java/math/BigInteger.implMontgomeryMultiply": true,
	"java/math/BigInteger.montgomerySquare": true, "java/math/BigInteger.implMontgomerySquare": true,
}

// intrinsic reports whether a compiler may replace a method of a class.
func intrinsic(class string, cf *classfile.Class, m *classfile.Member) bool {
	if !strings.HasPrefix(class, "java/") && !strings.HasPrefix(class, "jdk/") && !strings.HasPrefix(class, "com/sun/") {
		return false
	}
	return intrinsics[class+"."+m.Name] || marked(cf, m)
}

// marked reports whether a method's annotations have a mark of an intrinsic.
// It takes every index among them for that of an annotation's type, so it may
// err on the side of caution.
func marked(cf *classfile.Class, m *classfile.Member) bool {
	a := m.Attribute("RuntimeVisibleAnnotations")
	if a == nil {
		return false
	}
	for i := 2; i+2 <= len(a.Info); i++ {
		if s, err := cf.Pool.Utf8(binary.BigEndian.Uint16(a.Info[i:])); err == nil && intrinsicMarks[s] {
			return true
		}
	}
	return false
}
