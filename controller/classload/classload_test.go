package classload

import "testing"

// TestNested has a class that went from loader to loader told once, and times that lie inside others left out of these.
func TestNested(t *testing.T) {
	loads := Nested([]Load{
		{Class: "Super", Thread: 1, Start: 20, End: 50, Defined: true},
		{Class: "Sub", Thread: 1, Start: 10, End: 90}, // asked for by a loader that passes it on
		{Class: "Sub", Thread: 1, Start: 15, End: 80, Defined: true},
		{Class: "Other", Thread: 2, Start: 20, End: 30, Defined: true},
		{Class: "Known", Thread: 1, Start: 100, End: 110}, // no loader had to define it
	})
	want := []Load{
		{Class: "Sub", Thread: 1, Start: 10, End: 90, Own: 50, Defined: true},
		{Class: "Super", Thread: 1, Start: 20, End: 50, Own: 30, Defined: true, within: 1},
		{Class: "Other", Thread: 2, Start: 20, End: 30, Own: 10, Defined: true},
		{Class: "Known", Thread: 1, Start: 100, End: 110, Own: 10},
	}
	if len(loads) != len(want) {
		t.Fatalf("%d loads: %+v", len(loads), loads)
	}
	for i, w := range want {
		got := loads[i]
		if got.Class != w.Class || got.Own != w.Own || got.Defined != w.Defined || got.within != w.within || got.Start != w.Start || got.End != w.End {
			t.Errorf("%d: %+v, expected %+v", i, got, w)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"java/util/Map$Entry":                          "java.util.Map$Entry",
		"a/B$$Lambda$94+0x00007fa34808dce8/1051754451": "a.B$$Lambda$94/0x00007fa34808dce8",
		"a/B$$Lambda+0x000000001c15adb8.1826699684":    "a.B$$Lambda/0x000000001c15adb8",
		"a/B$$Lambda/0x000000001c15adb8":               "a.B$$Lambda/0x000000001c15adb8",
		"a/B$$Lambda$89/1512981843":                    "a.B$$Lambda$89/1512981843",
		"java/lang/invoke/LambdaForm$DMH+0x0000123/77": "java.lang.invoke.LambdaForm$DMH/0x0000123",
		"[Ljava/lang/String;":                          "[Ljava.lang.String;",
	} {
		if got := className(text); got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
	for class, want := range map[string]string{
		"": "boot", "sun/misc/Launcher$ExtClassLoader": "platform", "jdk/internal/loader/ClassLoaders$AppClassLoader": "app", "shop/PluginLoader": "shop.PluginLoader",
	} {
		if got := loaderName(class); got != want {
			t.Errorf("%q: %s, expected %s", class, got, want)
		}
	}
}

func TestCause(t *testing.T) {
	for _, c := range []struct {
		stack []Frame
		want  Frame
	}{
		{nil, ""},
		{[]Frame{"java.lang.ClassLoader.loadClass(Ljava/lang/String;)Ljava/lang/Class;", "jdk.internal.loader.X.y()V", "shop.Main.main([Ljava/lang/String;)V"}, "shop.Main.main([Ljava/lang/String;)V"},
		{[]Frame{"java.util.HashMap.put()V", "shop.Main.main([Ljava/lang/String;)V"}, "java.util.HashMap.put()V"},
		{[]Frame{"java.lang.Class.forName(Ljava/lang/String;)Ljava/lang/Class;"}, "java.lang.Class.forName(Ljava/lang/String;)Ljava/lang/Class;"},
	} {
		if got := (&Load{Stack: c.stack}).Cause(); got != c.want {
			t.Errorf("%v: %s, expected %s", c.stack, got, c.want)
		}
	}
}
