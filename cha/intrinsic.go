package cha

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// The JDK marks methods whose bodies a compiler may replace by code of its own:
// calls of such code run no probe.
var intrinsicMarks = map[string]bool{
	"Ljdk/internal/vm/annotation/IntrinsicCandidate;": true, // JDK 16
	"Ljdk/internal/HotSpotIntrinsicCandidate;":        true, // JDK 9
}

// intrinsics8 are the intrinsics of JDK 8, which marks none, by class, from its
// vmSymbols.hpp: of packages that can get probes, and of what applications call
// directly. The names hold for every JDK: in later ones, too, a compiler may
// replace them.
var intrinsics8 = map[string]string{
	"java/util/Arrays":        "copyOf copyOfRange equals",
	"java/math/BigInteger":    "multiplyToLen squareToLen implSquareToLen mulAdd implMulAdd montgomeryMultiply implMontgomeryMultiply montgomerySquare implMontgomerySquare",
	"java/lang/Object":        "<init> getClass hashCode clone",
	"java/lang/System":        "identityHashCode currentTimeMillis nanoTime arraycopy",
	"java/lang/Thread":        "currentThread isInterrupted",
	"java/lang/Class":         "isInstance isAssignableFrom getModifiers isInterface isArray isPrimitive getSuperclass getComponentType cast",
	"java/lang/reflect/Array": "getLength newArray",
	"java/lang/ref/Reference": "get",
	"java/lang/Math":          "abs sin cos tan atan2 sqrt log log10 pow exp min max addExact subtractExact multiplyExact incrementExact decrementExact negateExact",
	"java/lang/StrictMath":    "min max",
	"java/lang/Float":         "floatToRawIntBits floatToIntBits intBitsToFloat valueOf floatValue",
	"java/lang/Double":        "doubleToRawLongBits doubleToLongBits longBitsToDouble valueOf doubleValue",
	"java/lang/Integer":       "bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf intValue toString",
	"java/lang/Long":          "bitCount numberOfLeadingZeros numberOfTrailingZeros reverseBytes valueOf longValue",
	"java/lang/Short":         "reverseBytes valueOf shortValue",
	"java/lang/Character":     "reverseBytes valueOf charValue",
	"java/lang/Byte":          "valueOf byteValue",
	"java/lang/Boolean":       "valueOf booleanValue",
	"java/lang/String":        "compareTo indexOf equals <init>",
	"java/lang/StringBuilder": "<init> append toString",
	"java/lang/StringBuffer":  "<init> append toString",
	"java/util/zip/CRC32":     "update updateBytes updateByteBuffer",
	"java/nio/Buffer":         "checkIndex",
}

// intrinsic reports whether a compiler may replace a method of a class.
func intrinsic(class string, cf *classfile.Class, m *classfile.Member) bool {
	if !strings.HasPrefix(class, "java/") && !strings.HasPrefix(class, "jdk/") && !strings.HasPrefix(class, "com/sun/") {
		return false
	}
	names := intrinsics8[class]
	return names != "" && slices.Contains(strings.Fields(names), m.Name) || marked(cf, m)
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

// nativeOwners are the classes of the JDK with native methods that others can
// call, and intrinsicOwners those with intrinsics besides, in JDK 8 to 25.
var (
	nativeOwners = strings.Fields(`java/io/FileDescriptor java/io/RandomAccessFile java/lang/Class java/lang/Double
		java/lang/Float java/lang/Object java/lang/Runtime java/lang/SecurityManager java/lang/StrictMath
		java/lang/String java/lang/System java/lang/Thread java/lang/reflect/Array java/security/AccessController`)
	intrinsicOwners = strings.Fields(`java/lang/Boolean java/lang/Byte java/lang/Character java/lang/Integer
		java/lang/Long java/lang/Math java/lang/Short java/lang/StringBuffer java/lang/StringBuilder
		java/lang/ref/Reference java/math/BigInteger java/nio/Buffer java/util/Arrays java/util/Base64$Decoder
		java/util/Base64$Encoder java/util/zip/Adler32 java/util/zip/CRC32 java/util/zip/CRC32C`)
)

// CodelessOwners returns the names of the JDK's classes whose methods a call
// site has to be looked at for: those with native methods that applications can
// call, and with intrinsics those with methods that a compiler may replace.
// Signature-polymorphic methods are left out.
func CodelessOwners(intrinsics bool) []string {
	if intrinsics {
		return slices.Concat(nativeOwners, intrinsicOwners)
	}
	return slices.Clone(nativeOwners)
}
