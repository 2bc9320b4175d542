package probe

// What [TokenSites] puts around a call: what At returns first.
const (
	SiteNone   = -1 // nothing
	SiteCallee = 0  // Hooks.Enter(arg) before it, Hooks.Exit behind it
)

// TokenSites returns the injector of the token probes that also has probes
// around calls of methods that can't have probes themselves:
//
//	long t = Hooks.Enter(arg); call; Hooks.Exit(t)
//
// An exception that leaves such a call leaves its callee without an exit. The
// probes of the caller, or of whoever catches it, put that right as they do for
// an exception out of super(). At must be set before the first use.
func TokenSites(h Hooks) *Injector {
	p := Tokens(h)
	const enter, exit = 0, 1
	p.Arounds = []Around{
		SiteCallee: {
			Before: Sequence{{Kind: StepArg}, {Kind: StepCall, Call: enter}, {Kind: StepKeep}},
			After:  Sequence{{Kind: StepKept}, {Kind: StepCall, Call: exit}},
		},
	}
	in, err := NewInjector(p)
	if err != nil {
		panic(err) // the program above is wrong
	}
	return in
}
