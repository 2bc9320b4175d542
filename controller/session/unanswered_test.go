package session

import "testing"

// TestUnansweredBefore has a recording answer for the classes alone that may have lacked probes
// while it was on.
func TestUnansweredBefore(t *testing.T) {
	type step func(*unanswered)
	arm := func(n int64, inForce bool) step {
		return func(u *unanswered) { u.found(n, 0); u.begun(n, inForce) }
	}
	listed := func(n int64, steps int) step { return func(u *unanswered) { u.found(n, steps) } }
	reset := func(n int64) step { return func(u *unanswered) { u.begun(n, true) } }
	for _, c := range []struct {
		name     string
		steps    []step
		n        int64 // in the end
		want     int64
		recorded bool
	}{
		{"none", []step{arm(0, true)}, 0, 0, true},
		{"while arming, not looked for again", []step{arm(3, true)}, 3, 3, false},
		{"while arming, nothing is found", []step{arm(3, true), listed(3, 0)}, 3, 0, true},
		{"while arming, one had no probes", []step{arm(3, true), listed(3, 1)}, 3, 3, true},
		{"while arming, some were coming", []step{arm(3, false), listed(3, 0)}, 3, 3, true},
		{"while recording", []step{arm(0, true), listed(2, 0)}, 2, 2, false},
		{"while recording, twice", []step{arm(0, true), listed(2, 0), listed(2, 0)}, 2, 2, true},
		{"forgotten", []step{arm(0, true), listed(2, 5), listed(2, 0), reset(2)}, 2, 0, true},
		{"forgotten too early", []step{arm(0, true), listed(2, 5), reset(3)}, 3, 3, false},
		{"forgotten, then looked for", []step{arm(0, true), listed(2, 5), reset(2), listed(2, 0)}, 2, 0, true},
		{"more after a reset", []step{arm(0, true), listed(2, 0), listed(2, 0), reset(2)}, 4, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var u unanswered
			for _, s := range c.steps {
				s(&u)
			}
			if got, recorded := u.since(c.n); got != c.want || recorded != c.recorded {
				t.Errorf("%d, recorded %v, expected %d, %v", got, recorded, c.want, c.recorded)
			}
		})
	}
}
