package export

import "io"

// StreamText writes the recording's first events, for a bug report: the text form
// of package event, with the methods' names as comments. Nothing where none were
// kept.
func (r *Report) StreamText(w io.Writer) error {
	if r.Stream == nil {
		return nil
	}
	return r.Stream.Write(w, func(id int32) string { return r.Method(id).Name })
}
