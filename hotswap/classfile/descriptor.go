package classfile

import (
	"fmt"
	"strings"
)

// A descError is a descriptor that breaks §4.3.
func descError(desc string) error {
	return &FormatError{Section: "4.3", Err: fmt.Errorf("bad descriptor %q", desc)}
}

// wordsOf holds the local-variable slots of the types named by one letter
// (table 4.3-A); V is 0. Every other letter is no type.
var wordsOf = [256]int8{'B': 1, 'C': 1, 'D': 2, 'F': 1, 'I': 1, 'J': 2, 'S': 1, 'Z': 1, 'L': 1, '[': 1}

// typeEnd returns where the field type that starts at i ends, -1 if none does.
func typeEnd(desc string, i int) int {
	for dims := 0; i < len(desc); dims++ {
		switch {
		case desc[i] == descArray && dims < 255:
			i++
		case desc[i] == descObject:
			n := strings.IndexByte(desc[i:], descObjectEnd)
			if n < 2 {
				return -1
			}
			return i + n + 1
		case wordsOf[desc[i]] > 0 && desc[i] != descArray:
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// Words returns the number of local-variable slots or operand-stack words of a
// field type or of V.
func Words(typ string) int {
	if typ == "" {
		return 0
	}
	return int(wordsOf[typ[0]])
}

// Params returns the parameter types of a method descriptor, appended to buf,
// and its return type.
func Params(desc string, buf []string) (params []string, ret string, err error) {
	if desc == "" || desc[0] != descOpen {
		return buf, "", descError(desc)
	}
	i := 1
	for i < len(desc) && desc[i] != ')' {
		end := typeEnd(desc, i)
		if end < 0 {
			return buf, "", descError(desc)
		}
		buf = append(buf, desc[i:end])
		i = end
	}
	if i >= len(desc) {
		return buf, "", descError(desc)
	}
	ret = desc[i+1:]
	if ret != "V" && typeEnd(ret, 0) != len(ret) {
		return buf, "", descError(desc)
	}
	return buf, ret, nil
}

// MethodWords returns the words that the parameters of a method descriptor
// take, without the receiver, and those of its result.
func MethodWords(desc string) (args, ret int, err error) {
	if desc == "" || desc[0] != descOpen {
		return 0, 0, descError(desc)
	}
	i := 1
	for i < len(desc) && desc[i] != ')' {
		end := typeEnd(desc, i)
		if end < 0 {
			return 0, 0, descError(desc)
		}
		args += Words(desc[i:])
		i = end
	}
	if i+1 >= len(desc) {
		return 0, 0, descError(desc)
	}
	return args, Words(desc[i+1:]), nil
}
