package images

import (
	"slices"
	"strings"
)

// demangle makes a name of C++ readable (Itanium C++ ABI, 5.1): the function's name with those of
// its classes and namespaces, without templates' arguments and parameters. What is none, or of a
// form that is not known, stays as it is.
func demangle(s string) string {
	rest, ok := strings.CutPrefix(s, "_Z")
	if !ok {
		return s
	}
	var parts []string
	rest, nested := strings.CutPrefix(rest, "N")
	rest = strings.TrimLeft(rest, "rVK") // of the object
	for rest != "" {
		switch c := rest[0]; {
		case c == 'L': // of one file
			rest = rest[1:]
		case c >= '1' && c <= '9':
			n := 0
			for rest != "" && rest[0] >= '0' && rest[0] <= '9' && n < len(s) {
				n = 10*n + int(rest[0]-'0')
				rest = rest[1:]
			}
			if n > len(rest) {
				return s
			}
			parts = append(parts, strings.Replace(rest[:n], "_GLOBAL__N_1", "(anonymous)", 1))
			if rest = rest[n:]; !nested {
				return parts[0]
			}
		case strings.HasPrefix(rest, "St"):
			parts = append(parts, "std")
			rest = rest[2:]
		case c == 'C' && len(rest) > 1 && len(parts) > 0: // constructs it
			return strings.Join(append(parts, parts[len(parts)-1]), "::")
		case c == 'D' && len(rest) > 1 && len(parts) > 0:
			return strings.Join(append(slices.Clone(parts), "~"+parts[len(parts)-1]), "::")
		case c == 'I': // arguments of a template, which end where they are balanced
			if rest, ok = skip(rest); !ok {
				return s
			}
		case c == 'E' && len(parts) > 0:
			return strings.Join(parts, "::")
		default:
			return s
		}
	}
	return s
}

// skip skips what begins with I, up to its E. Only such arguments are followed as are names,
// numbers and simple types.
func skip(s string) (rest string, ok bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'I' || c == 'N' || c == 'L' || c == 'X' || c == 'J' || c == 'F':
			depth++
		case c == 'E':
			if depth--; depth == 0 {
				return s[i+1:], true
			}
		case c >= '1' && c <= '9' && (i == 0 || s[i-1] != 'j' && s[i-1] != 'i' && s[i-1] != 'm' && s[i-1] != 'l' && s[i-1] != 'b'): // a name, not a number
			n := 0
			for i < len(s) && s[i] >= '0' && s[i] <= '9' && n <= len(s) {
				n = 10*n + int(s[i]-'0')
				i++
			}
			i += n - 1
		}
	}
	return s, false
}
