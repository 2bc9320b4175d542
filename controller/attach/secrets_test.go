package attach

import (
	"slices"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-Ddb.password=s3cret|-Xmx64m", "-Ddb.password=***|-Xmx64m"},
		{"-Dspring.datasource.PASSWORD=a b=c", "-Dspring.datasource.PASSWORD=***"},
		{"--token=abc|--port=80", "--token=***|--port=80"},
		{"--password|hunter2|serve", "--password|***|serve"},
		{"--password|--port|80", "--password|--port|80"},
		{"api-key:k|apiKey=k|API_KEY=k", "api-key:***|apiKey=***|API_KEY=***"},
		{"jdbc:pg://joe:pa@ss:x@db/shop?user=joe&password=p&ssl=true", "jdbc:pg://joe:***@db/shop?user=joe&password=***&ssl=true"},
		{"-javaagent:/a.jar=license_token=t,host=h", "-javaagent:/a.jar=license_token=***,host=h"},
		{"-Djavax.net.ssl.keyStorePassword=changeit", "-Djavax.net.ssl.keyStorePassword=***"},
		{"-XX:+UseG1GC|-cp|/opt/tokenizer/lib:/x|org.apache.Tokenizer|in.txt", "-XX:+UseG1GC|-cp|/opt/tokenizer/lib:/x|org.apache.Tokenizer|in.txt"},
		{`{"secret":"x","a":1}`, `{"secret":***,"a":1}`},
		{"", ""},
	} {
		args := strings.Split(c.args, "|")
		before := slices.Clone(args)
		if got := strings.Join(Mask(args), "|"); got != c.want {
			t.Errorf("%q: %q instead of %q", c.args, got, c.want)
		}
		if !slices.Equal(args, before) {
			t.Errorf("%q was changed", c.args)
		}
	}
}

// TestProcessMasked: neither options nor arguments of a process have secrets, however long they are.
func TestProcessMasked(t *testing.T) {
	p := Process{Args: "/data --password hunter2 --token=abc", Options: []string{"-Dkey.secret=x"}}
	p.mask()
	if p.Args != "/data --password *** --token=***" || p.Options[0] != "-Dkey.secret=***" {
		t.Errorf("%q %q", p.Args, p.Options)
	}
}

// TestMaskJoined: a value with spaces lies in several words.
func TestMaskJoined(t *testing.T) {
	for args, want := range map[string]string{
		"-Ddb.password=two words -Xmx1g -cp a.jar": "-Ddb.password=*** *** -Xmx1g -cp a.jar",
		"--token a b c --verbose file":             "--token *** *** *** --verbose file",
		"run file mode=fast here":                  "run file mode=fast here",
		"password=a b user=c d":                    "password=*** *** user=c d",
	} {
		if got := strings.Join(MaskJoined(strings.Split(args, " ")), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
