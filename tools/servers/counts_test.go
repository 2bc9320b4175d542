package servers

import (
	"encoding/json"
	"testing"
)

func TestWrong(t *testing.T) {
	own, err := parseCounts("a.A.root 10\na.B.<init> 20\na.B.b 10\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		report string
		want   int
	}{
		{`{"root_invocations":3,"flat":[{"method":"a.A.root()V","calls":3},{"method":"a.B.<init>(I)V","calls":4},{"method":"a.B.<init>()V","calls":2},{"method":"a.B.b()V","calls":3}]}`, 0},
		{`{"root_invocations":3,"flat":[{"method":"a.A.root()V","calls":3},{"method":"a.B.<init>(I)V","calls":5},{"method":"a.B.b()V","calls":4}]}`, 2},
		{`{"root_invocations":3,"open_invocations":1,"flat":[{"method":"a.A.root()V","calls":3},{"method":"a.B.<init>(I)V","calls":5},{"method":"a.B.b()V","calls":2}]}`, 0},
		{`{"root_invocations":3,"flat":[{"method":"a.A.root()V","calls":3}]}`, 2},
		{`{"root_invocations":3,"late":[{"method":"a.B.b()V"}],"flat":[{"method":"a.A.root()V","calls":3},{"method":"a.B.<init>(I)V","calls":6},{"method":"a.B.b()V","calls":1}]}`, 0},
		{`{"root_invocations":3,"late":[{"method":"a.B.b()V"}],"flat":[{"method":"a.A.root()V","calls":3},{"method":"a.B.<init>(I)V","calls":6},{"method":"a.B.b()V","calls":4}]}`, 1},
	} {
		var r report
		if err := json.Unmarshal([]byte(c.report), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.wrong(own, "a.A.root"); len(got) != c.want {
			t.Errorf("%s: %q", c.report, got)
		}
	}
	own["a.B.b"] = 11
	if got := (&report{}).wrong(own, "a.A.root"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"a", "a b"} {
		if _, err := parseCounts(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}
