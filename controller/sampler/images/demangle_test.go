package images

import "testing"

// TestDemangle reads names of libjvm's.
func TestDemangle(t *testing.T) {
	for s, want := range map[string]string{
		"_ZN2os13javaTimeNanosEv":                            "os::javaTimeNanos",
		"_ZNK5Klass13external_nameEv":                        "Klass::external_name",
		"_ZN13CompileBroker20compiler_thread_loopEv":         "CompileBroker::compiler_thread_loop",
		"_ZL19thread_native_entryP6Thread":                   "thread_native_entry",
		"_Z11jio_fprintfP8_IO_FILEPKcz":                      "jio_fprintf",
		"_ZN7CompileC1EP5ciEnvP8ciMethodibbbP12DirectiveSet": "Compile::Compile",
		"_ZN10StackValueD2Ev":                                "StackValue::~StackValue",
		"_ZN13GrowableArrayIiE4growEi":                       "GrowableArray::grow",
		"_ZN9OopOopMapI3oopLb1EE2doEv":                       "OopOopMap::do",
		"_ZN12_GLOBAL__N_15helloEv":                          "(anonymous)::hello",
		"JVM_Sleep":                                          "JVM_Sleep",
		"_ZTV5Klass":                                         "_ZTV5Klass",
		"_ZN99a":                                             "_ZN99a",
		"_ZN":                                                "_ZN",
		"_Z":                                                 "_Z",
		"":                                                   "",
	} {
		if got := demangle(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

func FuzzDemangle(f *testing.F) {
	f.Add("_ZN13GrowableArrayIiE4growEi")
	f.Fuzz(func(t *testing.T, s string) {
		if got := demangle(s); len(got) > 2*len(s)+16 {
			t.Errorf("%q", got)
		}
	})
}
