package filter

import (
	"regexp"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern string
		method  string // "class method desc"
		want    bool
	}{
		{"com.acme.*", "com.acme.Foo get ()V", true},
		{"com.acme.*", "com.acme.sub.Foo get ()V", false},
		{"com.acme.*", "com.acmes.Foo get ()V", false},
		{"com.acme.**", "com.acme.sub.Foo get ()V", true},
		{"com.acme.**", "com.acmex get ()V", false},
		{"com.acme**", "com.acmex.Foo get ()V", true},
		{"com.acme.Foo", "com.acme.Foo get ()V", true},
		{"com.acme.Foo", "com.acme.Foo <init> ()V", true},
		{"com.acme.Foo", "com.acme.Foo$Bar get ()V", false},
		{"com.acme.Foo", "com.acme.Food get ()V", false},
		{"com.acme.Foo*", "com.acme.Foo$Bar get ()V", true},
		{"com.acme.Foo$*", "com.acme.Foo$Bar get ()V", true},
		{"com.acme.Foo$*", "com.acme.Foo get ()V", false},
		{"com.acme.Foo.get*", "com.acme.Foo getAll (I)V", true},
		{"com.acme.Foo.get*", "com.acme.Foo forget (I)V", false},
		{"com.acme.Foo.*get*", "com.acme.Foo forget (I)V", true},
		{"com/acme/Foo#get", "com.acme.Foo get (I)V", true},
		{"com.acme.Foo::get", "com.acme.Foo get (I)V", true},
		{"com.acme.*Service.find*", "com.acme.UserService findAll ()V", true},
		{"com.acme.*Service.find*", "com.acme.UserService$1 findAll ()V", false},
		{"com.acme.*Service.find*", "com.acme.x.UserService findAll ()V", false},
		{"**", "Foo get ()V", true},
		{"**", "a.b.C get ()V", true},
		{"*", "Foo get ()V", true},
		{"*", "a.Foo get ()V", false},
		{"**.Foo", "Foo get ()V", true},
		{"**.Foo", "a.b.Foo get ()V", true},
		{"**.Foo", "a.b.NotFoo get ()V", false},
		{"**.Foo.<init>", "a.b.Foo <init> ()V", true},
		{"**.Foo.<init>", "a.b.Foo get ()V", false},
		{"a.**.C", "a.C m ()V", true},
		{"a.**.C", "a.b.b.C m ()V", true},
		{"a.**.C", "a.bC m ()V", false},
		{"a.**.*Impl.m", "a.b.c.XImpl m ()V", true},
		{"a.**.*Impl.m", "a.b.c.XImpl mm ()V", false},
		{"a.**b.*.m", "a.xb.ab.C m ()V", true},
		{"a.?.C", "a.b.C m ()V", true},
		{"a.?.C", "a.bb.C m ()V", false},
		{"a.?.C", "a.ä.C m ()V", true},
		{"a?b", "a.b m ()V", false},
		{"a.C.m(I)V", "a.C m (I)V", true},
		{"a.C.m(I)V", "a.C m (J)V", false},
		{"a.C.m(I)*", "a.C m (I)J", true},
		{"a.C.m(*)J", "a.C m (ILjava/lang/String;)J", true},
		{"a.C.m(*", "a.C m (ILjava/lang/String;)J", true},
		{"a.C(*", "a.C m (I)V", false},
	}
	for _, test := range tests {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		f := strings.Fields(test.method)
		if got := p.Method(f[0], f[1], f[2]); got != test.want {
			t.Errorf("%s matches %s: %v, want %v", test.pattern, test.method, got, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", " ": "empty", "(I)V": "empty", ".a": "a name in it is empty", "a.": "a name in it is empty", "a..b": "a name in it is empty",
		"a.***": "no ***", "a.b;": "can't be in a name", "a.B[]": "can't be in a name", "a.B.m(I": "does not end",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
	var none Pattern
	if none.Method("a.B", "m", "()V") {
		t.Error("the zero pattern matches")
	}
}

// TestSet has a line for each method and set of rules: + includes, - excludes.
func TestSet(t *testing.T) {
	tests := []struct {
		rules, method string
		jdk, want     bool
	}{
		{"", "a.B m", false, true},
		{"", "java.util.HashMap get", true, false},
		{"-a.*", "a.B m", false, false},
		{"-a.*", "b.B m", false, true},
		{"+a.*", "a.B m", false, true},
		{"+a.*", "b.B m", false, false},
		{"-a.* +a.B", "a.B m", false, true},
		{"-a.* +a.B", "a.C m", false, false},
		{"-a.* +a.B", "b.C m", false, true},
		{"+a.** -a.b.*", "a.b.C m", false, false},
		{"+a.** -a.b.* +a.b.C.m", "a.b.C m", false, true},
		{"+a.** -a.b.* +a.b.C.m", "a.b.C n", false, false},
		{"+a.** +b.** -a.B.m", "a.B m", false, false},
		// The JDK is opened by its own names or by --jdk, and restricts nobody else.
		{"+java.util.*", "java.util.HashMap get", true, true},
		{"+java.util.*", "java.io.File get", true, false},
		{"+java.util.*", "a.B m", false, true},
		{"+**", "java.util.HashMap get", true, false},
		{"+java.** -**.HashMap", "java.util.HashMap get", true, false},
		{"+java.util.* +a.*", "b.B m", false, false},
		{"jdk", "java.util.HashMap get", true, true},
		{"jdk -java.util.*", "java.util.HashMap get", true, false},
		{"jdk +a.**", "java.util.HashMap get", true, true},
	}
	for _, test := range tests {
		var s Set
		for w := range strings.FieldsSeq(test.rules) {
			if w == "jdk" {
				s.JDK = true
			} else if err := s.Add(w[1:], w[0] == '+'); err != nil {
				t.Fatal(err)
			}
		}
		f := strings.Fields(test.method)
		if got := s.Method(f[0], f[1], "()V", test.jdk); got != test.want {
			t.Errorf("%q: %s is included: %v, want %v", test.rules, test.method, got, test.want)
		}
	}
}

// TestOpensClass wants a class of the JDK opened where any of its methods may be.
func TestOpensClass(t *testing.T) {
	for rule, classes := range map[string]string{
		"+java.util.*":             "java.util.HashMap java.util.Map$Entry !java.util.regex.Pattern !java.io.File",
		"+java.util.**":            "java.util.HashMap java.util.regex.Pattern",
		"+java.util.HashMap":       "java.util.HashMap !java.util.HashMapX",
		"+java.util.HashMap.put*":  "java.util.HashMap !java.util.HashSet",
		"+java.util.*Map.get":      "java.util.HashMap java.util.TreeMap !java.util.HashSet",
		"+java.util.**.of(*)*":     "java.util.List java.util.x.Y !java.time.Year",
		"+**.HashMap":              "!java.util.HashMap",
		"-java.util.* +com.acme.*": "!java.util.HashMap",
	} {
		var s Set
		for w := range strings.FieldsSeq(rule) {
			if err := s.Add(w[1:], w[0] == '+'); err != nil {
				t.Fatal(err)
			}
		}
		for c := range strings.FieldsSeq(classes) {
			c, not := strings.CutPrefix(c, "!")
			if s.OpensClass(c) == not {
				t.Errorf("%s: opens %s: %v", rule, c, !not)
			}
		}
	}
}

// FuzzMatch compares with a regular expression.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{"a.**.b*c|a.x.bxc", "**.a|a", "*?*|ab", "**b**.c|a.b.c", "a.*.**.b|a.b.c.b"} {
		p, text, _ := strings.Cut(s, "|")
		f.Add(p, text)
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Parse(pattern)
		if err != nil || strings.ContainsAny(pattern, "(:#/ \n") || strings.Contains(text, "\n") {
			return
		}
		for _, r := range pattern + text {
			if r > 126 || r < 33 {
				return // bytes and characters
			}
		}
		var b strings.Builder
		for _, k := range p.name {
			b.WriteString(map[kind]string{literal: regexp.QuoteMeta(k.lit), one: "[^.]", some: "[^.]*", all: ".*", parts: `(.*\.)?`}[k.kind])
		}
		if want := regexp.MustCompile("^" + b.String() + "$").MatchString(text); match(p.name, text) != want {
			t.Errorf("%q on %q: %v, regexp says %v", pattern, text, !want, want)
		}
	})
}
