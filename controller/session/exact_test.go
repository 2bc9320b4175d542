package session

import "testing"

// TestRefusedGap has only methods that could have been called make a gap.
func TestRefusedGap(t *testing.T) {
	for reason, gap := range map[string]bool{
		"abstract": false, unlinkable: false,
		"native": true, "over 64 KB of code with probes": true,
	} {
		if got := refusedGap(reason) != ""; got != gap {
			t.Errorf("%s: a gap: %v", reason, got)
		}
	}
}
