// Package jdkcalls tells which methods the JDK's own code may call by overriding,
// so that those need no probes that nobody in it can name.
//
// Code calls a method by a reference in its class's constant pool (JVMS §5.1),
// native code by name through JNI, and method handles that are looked up by name
// have it from a string. So what the JDK calls of an application's overrides is
// bounded by the references and strings of those of its classes that are loaded, and
// by the strings in its libraries. [Names] gathers them: classes from the runtime image
// ([Image]), where the loaded ones were listed, or from the load hook; libraries
// as files, all that the JDK has, since nobody tells when one is loaded.
//
// What reflection calls is not bounded: names may be put together. A session follows
// that by other means, as it follows what lambdas and method handles in constant
// pools stand for. Classes that the JDK makes at run time name nothing that the
// makers don't have among their constants. Nor is what other agents put into the
// JDK's classes known, nor the code of other native libraries.
//
// A Names is not safe for concurrent use.
//
// Errors are those of reading a file (package io/fs), or say which class or image is
// damaged, and where.
package jdkcalls

import (
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Names are the names that code may call methods by.
type Names struct {
	refs  map[classfile.NameAndType]struct{} // of references to methods
	texts map[string]struct{}                // of string constants
	tails []string                           // of native code, backwards and sorted; shared
}

// NewNames returns no names.
func NewNames() *Names {
	return &Names{refs: map[classfile.NameAndType]struct{}{}, texts: map[string]struct{}{}}
}

// Len returns how many references and strings of classes there are.
func (n *Names) Len() int { return len(n.refs) + len(n.texts) }

// Class adds what a class names.
func (n *Names) Class(b []byte) error {
	pool, err := classfile.ParsePool(b)
	if err != nil {
		return err
	}
	for i := range uint16(pool.Len()) {
		switch pool.Tag(i) {
		case classfile.TagMethodref, classfile.TagInterfaceMethodref:
			ref, err := pool.MemberRef(i)
			if err != nil {
				return err
			}
			n.Ref(ref.Name, ref.Desc)
		case classfile.TagString:
			text, err := pool.String(i)
			if err != nil {
				return err
			}
			n.Text(text)
		}
	}
	return nil
}

// Ref adds a reference. What is kept shares no memory with it.
func (n *Names) Ref(name, desc string) {
	key := classfile.NameAndType{Name: name, Desc: desc}
	if _, ok := n.refs[key]; !ok {
		n.refs[classfile.NameAndType{Name: strings.Clone(name), Desc: strings.Clone(desc)}] = struct{}{}
	}
}

// Text adds a string constant, if it could be a method's name.
func (n *Names) Text(text string) {
	if _, ok := n.texts[text]; !ok && isName(text) {
		n.texts[strings.Clone(text)] = struct{}{}
	}
}

// longestName bounds what is taken for a method's name.
const longestName = 255

// isName reports whether a string may name a method (JVMS §4.2.2).
func isName(s string) bool {
	return s != "" && len(s) <= longestName && !strings.ContainsAny(s, ".;[/<> \n")
}

// Native adds the words of native code: what stands before the zero that ends a
// C string. A linker lets a string be the end of another.
func (n *Names) Native(words []string) {
	n.tails = slices.Clip(n.tails)
	for _, w := range words {
		n.tails = append(n.tails, backwards(w))
	}
	slices.Sort(n.tails)
	n.tails = slices.Compact(n.tails)
}

// Merge adds other names, which share memory afterwards.
func (n *Names) Merge(other *Names) {
	maps.Copy(n.refs, other.refs)
	maps.Copy(n.texts, other.texts)
	switch {
	case len(n.tails) == 0:
		n.tails = other.tails
	case len(other.tails) > 0:
		n.tails = slices.Concat(n.tails, other.tails)
		slices.Sort(n.tails)
	}
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// Calls reports whether a method may be called by these names.
func (n *Names) Calls(name, desc string) bool {
	if _, ok := n.refs[classfile.NameAndType{Name: name, Desc: desc}]; ok {
		return true
	}
	if _, ok := n.texts[name]; ok {
		return true
	}
	back := backwards(name)
	i, _ := slices.BinarySearch(n.tails, back)
	return i < len(n.tails) && strings.HasPrefix(n.tails[i], back)
}
