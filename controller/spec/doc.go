// Package spec says what a recording can be asked for: its options, their texts and
// their limits.
//
// A [Recording] is filled from the flags of the command line, from JSON (the page and
// its REST interface), or from the lines of a script (the terminal session). All three
// go through the rows of one table, [Options], so none knows an option that the others
// lack. [Recording.Validate] is the only place that says which options exclude each
// other. Whatever depends on the target, such as whether a root exists, is package
// session's to check.
//
// Nothing here is shared between goroutines: a Recording is a value. Copy it with
// [Recording.Clone] before it is changed.
package spec
