package attach

import (
	"regexp"
	"strings"
)

// Masked stands where a command line has a secret.
const Masked = "***"

const (
	// secret is what the name of an option has whose value nobody else should see.
	secret = `(?i:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[._-]?key|access[._-]?key|private[._-]?key)`
	named  = `[\w.-]*` + secret + `[\w.-]*`
)

var (
	wholeValue = regexp.MustCompile(`^((?:-D|--?)?` + named + `[=:])(?s:.+)$`)
	partValue  = regexp.MustCompile(`(` + named + `["']?[=:])[^\s,;&]+`)
	takesValue = regexp.MustCompile(`^--?` + named + `$`)
	inURL      = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s]+@`)
)

// Mask puts [Masked] where the arguments of a command line have secrets: values of options and
// properties whose name says that they are a password, a token, a key or the like, in whatever
// argument they are, and passwords in addresses. It changes a copy.
func Mask(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		switch {
		case i > 0 && takesValue.MatchString(args[i-1]) && !strings.HasPrefix(a, "-"):
			out[i] = Masked
		case wholeValue.MatchString(a):
			out[i] = wholeValue.ReplaceAllString(a, "${1}"+Masked)
		default:
			out[i] = inURL.ReplaceAllString(partValue.ReplaceAllString(a, "${1}"+Masked), "${1}"+Masked+"@")
		}
	}
	return out
}

// MaskJoined is [Mask] for arguments that the JVM has joined by spaces, so that a value with spaces
// lies in several: words behind a value that is masked are taken for the rest of it.
func MaskJoined(args []string) []string {
	out := Mask(args)
	rest := false
	for i, a := range args {
		if rest && !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			out[i] = Masked
			continue
		}
		rest = out[i] != a
	}
	return out
}

// mask leaves no secrets in what is said of a process. Nothing that is decided by options needs
// their values.
func (p *Process) mask() {
	if p.Options != nil {
		p.Options = MaskJoined(p.Options)
	}
	if p.Args != "" {
		p.Args = strings.Join(MaskJoined(strings.Split(p.Args, " ")), " ")
	}
}
