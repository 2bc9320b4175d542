package export

import "fmt"

var schemeNames = map[string]string{
	"A": "all at once (A)", "B": "as called (B)", "C": "as called + look ahead (C)", "D": "what is active (D)",
}

// SchemeName says for people what a scheme does: "as called + look ahead (C)".
// Names that are no scheme's, such as "auto", stay as they are.
func SchemeName(scheme string) string {
	if name, ok := schemeNames[scheme]; ok {
		return name
	}
	return scheme
}

var clockNames = map[string]string{"tick": "low overhead timing (tick)", "precise": "exact timing (precise)"}

// ClockName says for people what a clock is good for: "low overhead timing (tick)".
func ClockName(clock string) string {
	if name, ok := clockNames[clock]; ok {
		return name
	}
	return fmt.Sprintf("%s clock", clock)
}
