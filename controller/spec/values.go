package spec

import (
	"slices"
	"strconv"
	"strings"
)

// Get is the value of an option, of a list all of them; "" stands for the default.
func (o *Option) Get(r *Recording) string {
	if o.kind == list {
		return strings.Join(o.list(r), " ")
	}
	return o.get(r)
}

// Set gives an option a value, or adds one to a list. The error is an [*Error]; then the
// recording is as it was.
func (o *Option) Set(r *Recording, value string) error {
	if o.kind == text && len(o.Values) > 0 {
		known := slices.ContainsFunc(o.Values, func(v string) bool { return v == value || o.Name == "scheme" && strings.EqualFold(v, value) })
		if !known {
			return o.unknown(value)
		}
	}
	return o.set(r, value)
}

// IsFlag tells whether the option is on or off.
func (o *Option) IsFlag() bool { return o.kind == flag }

// IsList tells whether the option has any number of values; [Option.Set] adds one.
func (o *Option) IsList() bool { return o.kind == list }

// List are the values of a list.
func (o *Option) List(r *Recording) []string { return o.list(r) }

// Clear empties a list.
func (o *Option) Clear(r *Recording) { o.clear(r) }

func (o *Option) unknown(value string) error {
	return wrong(o.Name, value, "there is only %s", enumerate(o.Values))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func parseFlag(option, value string) (bool, error) {
	switch value {
	case "on", "true":
		return true, nil
	case "off", "false":
		return false, nil
	}
	return false, wrong(option, value, "there is only on and off")
}

func parseNumber(option, value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err == nil && n < 0 {
		return 0, wrongNumber(option, n, "give a number above zero, or 0 for none")
	}
	if err != nil {
		return 0, wrong(option, value, "give a number above zero, or 0 for none")
	}
	return n, nil
}
