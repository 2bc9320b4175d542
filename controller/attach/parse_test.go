package attach

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perfFile builds hsperfdata from names and values, int64 or string.
func perfFile(order binary.AppendByteOrder, pairs ...any) []byte {
	b := []byte{0xca, 0xfe, 0xc0, 0xc0, 0, 2, 0, 1}
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b[4] = 1
	}
	u4 := func(n int) { b = order.AppendUint32(b, uint32(n)) }
	u4(0)
	u4(0)
	b = order.AppendUint64(b, 0)
	u4(perfPrologue)
	u4(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		data := (perfEntry + len(name) + 1 + 7) &^ 7
		kind, vector, size := byte('J'), 0, data+8
		if s, ok := pairs[i+1].(string); ok {
			kind, vector, size = 'B', len(s)+1, (data+len(s)+1+7)&^7
		}
		at := len(b)
		u4(size)
		u4(perfEntry)
		u4(vector)
		b = append(b, kind, 0, 0, 0)
		u4(data)
		b = append(append(b, name...), make([]byte, data-perfEntry-len(name))...)
		switch v := pairs[i+1].(type) {
		case int64:
			b = order.AppendUint64(b, uint64(v))
		case string:
			b = append(b, v...)
		}
		b = append(b, make([]byte, size-(len(b)-at))...)
	}
	return b
}

func TestParsePerf(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		got, err := parsePerf(perfFile(order, "a.long", int64(-5), "a.string", "text", "empty", ""))
		want := map[string]any{"a.long": int64(-5), "a.string": "text", "empty": ""}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v: %v\n%s", order, err, d)
		}
	}
	b := perfFile(binary.LittleEndian)
	b[7] = 0
	if _, err := parsePerf(b); err != errPerfNotReady {
		t.Error(err)
	}
}

func FuzzParsePerf(f *testing.F) {
	f.Add(perfFile(binary.LittleEndian, "sun.rt.x", int64(7), "y", "z"))
	f.Add(perfFile(binary.BigEndian, "sun.rt.x", int64(7), "y", "z"))
	f.Add([]byte{0xca, 0xfe, 0xc0, 0xc0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if values, err := parsePerf(b); err != nil && values != nil {
			t.Error("an error and a result")
		}
	})
}

func TestSplitCommand(t *testing.T) {
	files := map[string]string{"opts": "-Xmx1g # more\n\"-Da=b c\" -cp 'x y'", "all": "-cp x Main 1"}
	for _, c := range []struct{ line, options, main, args string }{
		{"-cp|a b|-Xmx1g|Main|x|-y", "-cp|a b|-Xmx1g", "Main", "x|-y"},
		{"-jar|my app.jar|-Xmx1g", "", "my app.jar", "-Xmx1g"},
		{"--add-opens|a/b=c|-m|mod/pkg.Main|1", "--add-opens|a/b=c", "mod/pkg.Main", "1"},
		{"--module=mod/M|1", "", "mod/M", "1"},
		{"@opts|Main|@opts", "-Xmx1g|-Da=b c|-cp|x y", "Main", "@opts"},
		{"@all|2", "-cp|x", "Main", "1|2"},
		{"-J-Xmx1g|Foo.java", "-Xmx1g", "Foo.java", ""},
		{"-cp", "-cp", "", ""},
		{"", "", "", ""},
	} {
		split := func(s string) []string {
			return slices.DeleteFunc(strings.Split(s, "|"), func(s string) bool { return s == "" })
		}
		got := splitCommand(expandArgFiles(split(c.line), func(n string) string { return files[n] }))
		if strings.Join(got.options, "|") != c.options || got.main != c.main || strings.Join(got.args, "|") != c.args {
			t.Errorf("%s: %+v", c.line, got)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add("-a \"b c\" 'd\\' # e")
	f.Fuzz(func(t *testing.T, s string) {
		splitWords(s, false)
		expandArgFiles([]string{"@x", "y"}, func(string) string { return s })
	})
}

func TestParseFlag(t *testing.T) {
	for line, want := range map[string]Flag{
		"     bool UseG1GC          = true             {product} {ergonomic}\n":       {"bool", "true", "product", "ergonomic"},
		"    uintx MaxHeapSize     := 67108864         {product}\n":                   {"uintx", "67108864", "product", ""},
		"    ccstr OnError          =                  {product} {default}\n":         {"ccstr", "", "product", "default"},
		"ccstrlist OnOutOfMemoryError = kill -9 %p; a = b {product} {command line}\n": {"ccstrlist", "kill -9 %p; a = b", "product", "command line"},
	} {
		name, got, ok := parseFlag(line)
		if !ok || name == "" || got != want {
			t.Errorf("%q: %q %+v", line, name, got)
		}
	}
	if _, _, ok := parseFlag("[Global flags]\n"); ok {
		t.Error("heading taken for a flag")
	}
}

func TestRequests(t *testing.T) {
	if got := string(encodeV1("load", []string{"a", "b"})); got != "1\x00load\x00a\x00b\x00\x00" {
		t.Errorf("%q", got)
	}
	if got := string(encodeV2("jcmd", []string{"VM.flags", ""})); got != "2\x0015\x00jcmd\x00VM.flags\x00\x00" {
		t.Errorf("%q", got)
	}
	for in, want := range map[string]Reply{"0\nx\ny": {0, "x\ny"}, "-1\n": {-1, ""}, "100": {100, ""}} {
		if got, err := decodeReply([]byte(in)); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestPath(t *testing.T) {
	if got := Path(7, "/tmp/../../etc/x"); got != "/proc/7/root/etc/x" {
		t.Error(got)
	}
	if _, err := os.Stat(Path(os.Getpid(), "/proc")); err != nil {
		t.Error(err)
	}
}
