// Package filter is the language in which people name methods by patterns, and
// the rules that --include and --exclude make of them.
//
// A pattern is a dotted name in which
//
//	?    stands for one character other than a dot
//	*    for any characters other than a dot, or none
//	**   for any characters
//	**.  at the beginning of a part for any number of whole parts, or none
//
// Without a descriptor it matches a method if it matches the name of its class,
// or that of its class, a dot and its own name:
//
//	com.acme.*          all methods of the classes of package com.acme
//	com.acme.**         and of the packages below it
//	com.acme.Foo        all methods of class Foo, without its nested classes
//	com.acme.Foo$*      all methods of its nested classes
//	com.acme.Foo.get*   methods of class Foo (and classes get* of a package Foo)
//	**.Foo.<init>       constructors of all classes Foo
//	com.acme.Foo.of(I)* with a descriptor (JVMS §4.3.3), in which * and **
//	                    stand for anything
//
// Case counts. Slashes are taken for dots, and so are # and :: before a
// method's name. Constructors are methods named <init>, class initializers
// <clinit>; patterns match both like any other name.
//
// Patterns and sets are immutable and safe for concurrent use.
//
// An error says what is wrong with a pattern or rule, as text for whoever wrote it.
package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Pattern names methods. The zero value matches nothing.
type Pattern struct {
	text string
	name []token
	desc []token // nil: any
}

// A token is a piece of a pattern.
type token struct {
	kind kind
	lit  string
}

type kind uint8

const (
	literal kind = iota // lit
	one                 // ?
	some                // *
	all                 // **
	parts               // **. at the beginning of a part
)

// Parse reads a pattern. An error says what is wrong with it, in half a
// sentence that does not quote it.
func Parse(text string) (Pattern, error) {
	p := Pattern{text: strings.TrimSpace(text)}
	name, desc, described := strings.Cut(p.text, "(")
	for _, sep := range []string{"::", "#", "/"} {
		name = strings.ReplaceAll(name, sep, ".")
	}
	switch {
	case name == "":
		return p, errors.New("it is empty; ** matches everything")
	case strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, ".."):
		return p, errors.New("a name in it is empty")
	case strings.Contains(name, "***"):
		return p, errors.New("there is ? and * and **, but no ***")
	}
	if i := strings.IndexAny(name, ";[])"); i >= 0 {
		return p, fmt.Errorf("%q can't be in a name", name[i])
	}
	p.name = tokens(name, true)
	if described {
		if !strings.Contains(desc, ")") && !strings.Contains(desc, "*") {
			return p, errors.New("its descriptor does not end: write (I)V, (I)* or (*")
		}
		p.desc = tokens("("+strings.ReplaceAll(desc, "*", "**"), false)
	}
	return p, nil
}

// Has reports whether a name has a wildcard, and so is a pattern rather than a
// name. A descriptor is not looked at.
func Has(name string) bool {
	name, _, _ = strings.Cut(name, "(")
	return strings.ContainsAny(name, "*?")
}

// tokens cuts a pattern into pieces.
func tokens(s string, names bool) []token {
	var out []token
	for start := true; s != ""; {
		var t token
		switch n := strings.IndexAny(s, "*?"); {
		case n != 0:
			if n < 0 {
				n = len(s)
			}
			t = token{literal, s[:n]}
		case s[0] == '?':
			t = token{one, "?"}
		case names && start && strings.HasPrefix(s, "**."):
			t = token{parts, "**."}
		case strings.HasPrefix(s, "**"):
			t = token{all, strings.Repeat("*", len(s)-len(strings.TrimLeft(s, "*")))}
		default:
			t = token{some, "*"}
		}
		out = append(out, t)
		s = s[len(t.lit):]
		start = t.kind == parts || strings.HasSuffix(t.lit, ".")
	}
	return out
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Class reports whether the pattern matches all methods of a class of this
// dotted name.
func (p Pattern) Class(class string) bool { return p.desc == nil && match(p.name, class) }

// Named reports whether the pattern matches a method by class and name, not by
// its class alone.
func (p Pattern) Named(class, name, desc string) bool {
	return len(p.name) > 0 && match(p.name, class+"."+name) && (p.desc == nil || match(p.desc, desc))
}

// within reports whether the pattern may match some methods of a class: up to
// its last dot it matches the class's name.
func (p Pattern) within(class string) bool {
	last := len(p.name) - 1
	if last < 0 {
		return false
	}
	for i := last; i >= 0; i-- {
		t := p.name[i]
		if t.kind == all || t.kind == parts {
			return match(append(slices.Clone(p.name[:i]), token{all, "**"}), class)
		}
		if dot := strings.LastIndexByte(t.lit, '.'); t.kind == literal && dot >= 0 {
			return match(append(slices.Clone(p.name[:i]), token{literal, t.lit[:dot]}), class)
		}
	}
	return false
}

// Method reports whether the pattern matches a method; class is dotted.
func (p Pattern) Method(class, name, desc string) bool {
	return p.Class(class) || p.Named(class, name, desc)
}

// match tells whether the tokens stand for the whole of s. It goes back to the
// last wildcard that can take more, and to the last ** when that fails, so it
// takes time of the order of the lengths' product at the worst.
func match(ts []token, s string) bool {
	if len(ts) == 0 {
		return false
	}
	type point struct{ t, s int }
	narrow, wide := point{-1, 0}, point{-1, 0} // where to go on after * or **
	t, i := 0, 0
	for {
		switch {
		case t < len(ts) && ts[t].kind == literal && strings.HasPrefix(s[i:], ts[t].lit):
			i += len(ts[t].lit)
			t++
			continue
		case t < len(ts) && ts[t].kind == one && i < len(s) && s[i] != '.':
			for i++; i < len(s) && s[i]&0xc0 == 0x80; i++ { // the rest of a character
			}
			t++
			continue
		case t < len(ts) && ts[t].kind == some:
			t++
			narrow = point{t, i}
			continue
		case t < len(ts) && (ts[t].kind == all || ts[t].kind == parts):
			t++
			wide, narrow = point{t, i}, point{-1, 0}
			continue
		case t == len(ts) && i == len(s):
			return true
		}
		// Mismatch: the last wildcard takes one more.
		if narrow.t >= 0 && narrow.s < len(s) && s[narrow.s] != '.' {
			narrow.s++
			t, i = narrow.t, narrow.s
			continue
		}
		if wide.t < 0 {
			return false
		}
		step := 1
		if ts[wide.t-1].kind == parts { // whole parts only
			if step = strings.IndexByte(s[wide.s:], '.') + 1; step == 0 {
				return false
			}
		}
		if wide.s += step; wide.s > len(s) {
			return false
		}
		narrow = point{-1, 0}
		t, i = wide.t, wide.s
	}
}
