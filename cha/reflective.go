package cha

import "strings"

// A polymorphic method is signature polymorphic (JVMS §2.9.3): a call of it
// names a descriptor that no method has.
var polymorphic = map[string][]string{
	"java/lang/invoke/MethodHandle": {"invoke", "invokeExact", "invokeBasic", "linkTo"},
	"java/lang/invoke/VarHandle":    {"get", "set", "compareAnd", "weakCompareAnd"},
}

// polymorphic goes by prefixes: the non-polymorphic methods of both classes
// begin otherwise, except for invokeWithArguments.
func (c *Call) polymorphic() bool {
	for _, prefix := range polymorphic[c.Owner] {
		if strings.HasPrefix(c.Name, prefix) {
			return c.Name != "invokeWithArguments"
		}
	}
	return false
}

// reflective are the methods of the JDK that call a method which their caller chose by
// name or got as a value, so that no analysis of the code finds it. VarHandle is not
// among them: it accesses variables.
var reflective = map[string][]string{
	"java/lang/reflect/Method":      {"invoke"},
	"java/lang/reflect/Constructor": {"newInstance"},
	"java/lang/Class":               {"newInstance", "forName"},
	"java/lang/invoke/MethodHandle": {"invoke", "invokeExact", "invokeWithArguments"},
	"java/util/ServiceLoader":       {"iterator", "stream", "findFirst"},
	"java/io/ObjectInputStream":     {"readObject", "readUnshared"},
}

// Reflective returns the calls of a method whose targets the analysis can't see: by
// reflection, method handles, service loaders and deserialization.
func Reflective(m *Method) []Call {
	var calls []Call
	for _, c := range m.Calls {
		for _, name := range reflective[c.Owner] {
			if c.Name == name {
				calls = append(calls, c)
			}
		}
	}
	return calls
}
