package spec_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func TestParseRoot(t *testing.T) {
	good := map[string]string{
		"pkg.Class.method":                        "pkg.Class.method",
		"Main.main":                               "Main.main",
		" pkg/sub/Class.method ":                  "pkg.sub.Class.method",
		"pkg.Class#method":                        "pkg.Class.method",
		"pkg.Class::method(I)V":                   "pkg.Class.method(I)V",
		"pkg.Outer$Inner.<init>":                  "pkg.Outer$Inner.<init>",
		"pkg.C.<clinit>()V":                       "pkg.C.<clinit>()V",
		"pkg.C.m([[Ljava/lang/String;JZ)[I":       "pkg.C.m([[Ljava/lang/String;JZ)[I",
		"pkg.C.m()Ljava/util/List;":               "pkg.C.m()Ljava/util/List;",
		"pkg.C.lambda$main$0(Lpkg/Outer$Inner;)V": "pkg.C.lambda$main$0(Lpkg/Outer$Inner;)V",
		"größe.Straße.zählen":                     "größe.Straße.zählen",
		"pkg.C.a name of Kotlin's":                "pkg.C.a name of Kotlin's",
		"pkg.*Service#find*":                      "pkg.*Service.find*",
		"pkg/**/C.get?(*)J":                       "pkg.**.C.get?(*)J",
	}
	for in, want := range good {
		if got, err := spec.ParseRoot(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	bad := []string{
		"", ".", "method", ".method", "pkg..C.m", "pkg.C.", "pkg.C.<m>", "pkg.C;.m", "pkg.C.m\x1b",
		"pkg.C.m(", "pkg.C.m()", "pkg.C.m)V", "pkg.C.m(I)", "pkg.C.m(int)void", "pkg.C.m(V)V", "pkg.C.m(I)VV", "pkg.C.m(I)II",
		"pkg.C.m(Ljava.lang.String;)V", "pkg.C.m(Ljava/lang/String)V", "pkg.C.m(L;)V", "pkg.C.m([)V", "pkg.C.m([V)V",
		"pkg.C.m(" + strings.Repeat("[", 256) + "I)V",
	}
	for _, in := range bad {
		if got, err := spec.ParseRoot(in); err == nil || !strings.Contains(err.Error(), "pkg.Class.method") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func FuzzParseRoot(f *testing.F) {
	f.Add("pkg.C.m([[Ljava/lang/String;JZ)[I")
	f.Fuzz(func(t *testing.T, s string) {
		if parsed, err := spec.ParseRoot(s); err == nil {
			if again, err := spec.ParseRoot(parsed); err != nil || again != parsed {
				t.Errorf("%q -> %q -> %q, %v", s, parsed, again, err)
			}
		}
	})
}
