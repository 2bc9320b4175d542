package probe

import "testing"

func TestNever(t *testing.T) {
	for class, want := range map[string]string{
		"java/lang/Object": "java/lang/Object", "java/lang/String": "java/lang/", "java/lang/invoke/MethodHandle": "java/lang/",
		"java/util/concurrent/locks/LockSupport": "java/util/concurrent/", "sun/misc/Unsafe": "sun/", "java/io/File": "java/io/",
		"java/util/HashMap": "", "java/langx/A": "", "com/sun/Other": "",
	} {
		rule, why, is := Never(class)
		if rule != want || is != (want != "") || is != (why != "") {
			t.Errorf("%s: %q %q %v, want %q", class, rule, why, is, want)
		}
	}
}
