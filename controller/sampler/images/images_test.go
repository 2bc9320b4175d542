package images

import "testing"

// TestParse takes executable mappings of files from lines of /proc/PID/maps, whatever they
// are called.
func TestParse(t *testing.T) {
	for line, want := range map[string]mapping{
		"7f00a000-7f00c000 r-xp 00002000 fe:00 1234                       /usr/lib/libc.so.6":              {begin: 0x7f00a000, end: 0x7f00c000, offset: 0x2000, path: "/usr/lib/libc.so.6"},
		"7f00a000-7f00c000 r-xp 00000000 fe:00 1234                       /opt/my jdk/libjvm.so (deleted)": {begin: 0x7f00a000, end: 0x7f00c000, path: "/opt/my jdk/libjvm.so (deleted)"},
		"7ffd0000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]":                          {begin: 0x7ffd0000, end: 0x7ffd2000, path: "[vdso]"},
		"7f00a000-7f00c000 rw-p 00002000 fe:00 1234                       /usr/lib/libc.so.6":              {},
		"7f00a000-7f00c000 rwxp 00000000 00:00 0 ":                                                         {},
		"7f00c000-7f00a000 r-xp 00000000 fe:00 1  /x":                                                      {},
		"7f00a000 r-xp 00000000 fe:00 1  /x":                                                               {},
		"7f00a000-zz r-xp 00000000 fe:00 1  /x":                                                            {},
		"":                                                                                                 {},
	} {
		g, ok := parse(line)
		if ok != (want.path != "") {
			t.Errorf("%q: %v", line, ok)
		}
		g.key = ""
		if ok && g != want {
			t.Errorf("%q: %+v, want %+v", line, g, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("7f00a000-7f00c000 r-xp 00002000 fe:00 1234 /usr/lib/libc.so.6")
	f.Fuzz(func(t *testing.T, line string) {
		if g, ok := parse(line); ok && (g.begin >= g.end || g.path == "") {
			t.Errorf("%+v", g)
		}
	})
}
