package spec

import (
	"fmt"
	"strings"
)

// An Error says which option of a recording makes no sense, and why.
type Error struct {
	Option  string // as the flag is called, "until-calls"
	Value   string // what was given; "" where the error is about no value
	Problem string // with the way out
	number  bool   // Value is a number, and not quoted
}

// Error implements error. The text begins with the option's name.
func (e *Error) Error() string { return e.text(e.Option) }

// JSON is the text of the error for those who gave the option in JSON.
func (e *Error) JSON() string {
	if o := Find(e.Option); o != nil {
		return e.text(o.Field)
	}
	return e.text(e.Option)
}

func (e *Error) text(name string) string {
	switch {
	case e.Value == "":
		return name + ": " + e.Problem
	case e.number:
		return name + " " + e.Value + ": " + e.Problem
	}
	return fmt.Sprintf("%s %q: %s", name, e.Value, e.Problem)
}

func wrong(option, value, format string, args ...any) error {
	return &Error{Option: option, Value: value, Problem: fmt.Sprintf(format, args...)}
}

func wrongNumber[N int | int64](option string, value N, format string, args ...any) error {
	return &Error{Option: option, Value: fmt.Sprint(value), Problem: fmt.Sprintf(format, args...), number: true}
}

// enumerate lists what there is: "A, B and C".
func enumerate(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
