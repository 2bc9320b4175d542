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
