package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestBesideRate(t *testing.T) {
	for text, want := range map[string]besideRate{"49": {49, false}, "1": {1, false}, "inside": {besideHz, true}, "inside,199": {199, true}} {
		var r besideRate
		if err := r.Set(text); err != nil || r != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
		var again besideRate
		if err := again.Set(r.String()); err != nil || again != want {
			t.Errorf("%s: %+v, %v", r.String(), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "inside,", "inside,0", "insides", "outside", "1e3", "inside,10001"} {
		if err := (&besideRate{}).Set(text); err == nil || !strings.Contains(err.Error(), "from 1 to") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestJoinInside(t *testing.T) {
	for args, want := range map[string]string{
		"profile 1 --sample inside --root a.B.c": "profile 1 --sample=inside --root a.B.c",
		"profile --sample inside,99 1":           "profile --sample=inside,99 1",
		"profile --sample 1":                     "profile --sample 1",
		"profile inside --sample":                "profile inside --sample",
		"run -- java --sample inside":            "run -- java --sample inside",
	} {
		if got := joinInside(strings.Fields(args)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", args, got)
		}
	}
}
