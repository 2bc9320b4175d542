package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// MarshalJSON writes an object with a field for each of [Options]. Defaults are spelled out.
func (r Recording) MarshalJSON() ([]byte, error) {
	out, defaults := map[string]any{}, Default()
	for _, o := range Options {
		if o.kind == list {
			out[o.Field] = append([]string{}, o.list(&r)...)
			continue
		}
		switch value := o.get(&r); {
		case o.kind == number:
			out[o.Field] = json.Number(value)
		case o.kind == flag:
			out[o.Field] = value == "on"
		default:
			out[o.Field] = cmp.Or(value, o.get(&defaults))
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON changes the options that an object has fields for; the others, and those
// with an empty text, stay as they are. A list takes the place of the one before. Fields
// that are no options are refused. Errors are [*Error] where the value of an option
// makes no sense.
func (r *Recording) UnmarshalJSON(b []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	c := r.Clone()
	for _, o := range Options { // in their order: slowest goes before over
		raw, ok := in[o.Field]
		delete(in, o.Field)
		if !ok || bytes.Equal(raw, []byte("null")) {
			continue
		}
		if err := o.unmarshal(&c, raw); err != nil {
			var e *Error
			if errors.As(err, &e) {
				return jsonError{e}
			}
			return err
		}
	}
	if len(in) > 0 {
		var names []string
		for name := range in {
			names = append(names, name)
		}
		return fmt.Errorf("unknown field %q", slices.Min(names))
	}
	*r = c
	return nil
}

// A jsonError speaks of an option by its name in JSON.
type jsonError struct{ err *Error }

func (e jsonError) Error() string { return e.err.JSON() }
func (e jsonError) Unwrap() error { return e.err }

// most bounds the values of a list that comes as JSON.
func (o *Option) most() int {
	if o.Name == "root" {
		return 100
	}
	return 1000
}

func (o *Option) unmarshal(r *Recording, raw []byte) error {
	fail := func(err error) error {
		var e *json.UnmarshalTypeError
		if errors.As(err, &e) {
			return fmt.Errorf("%s: it is %s, not %s", o.Field, e.Value, map[kind]string{text: "a string", number: "a number", flag: "true or false", list: "a list of strings"}[o.kind])
		}
		return fmt.Errorf("%s: %w", o.Field, err)
	}
	switch o.kind {
	case number:
		var n int64
		if err := json.Unmarshal(raw, &n); err != nil {
			return fail(err)
		}
		if n < 0 {
			return wrongNumber(o.Name, n, "it is below zero")
		}
		return o.set(r, strconv.FormatInt(n, 10))
	case flag:
		var on bool
		if err := json.Unmarshal(raw, &on); err != nil {
			return fail(err)
		}
		return o.set(r, onOff(on))
	case list:
		var values []string
		if err := json.Unmarshal(raw, &values); err != nil {
			return fail(err)
		}
		if most := o.most(); len(values) > most {
			return wrong(o.Name, "", "more than %d", most)
		}
		o.clear(r)
		for _, v := range values {
			if err := o.set(r, v); err != nil {
				return err
			}
		}
		return nil
	}
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return fail(err)
	}
	if value == "" {
		return nil
	}
	return o.Set(r, value)
}
