package probe

// What [TokenSites] puts around a call: what At returns first.
const (
	SiteNone   = -1 // nothing
	SiteHandle = 0  // Hooks.Reflected(receiver) before it
	SiteCallee = 1  // Hooks.Enter(arg) before it, Hooks.Exit behind it
)

// TokenSites returns the injector of the token probes that also has probes
// around calls:
//
//	long t = Hooks.Enter(arg); call; Hooks.Exit(t)    a callee that can't have probes itself
//	Hooks.Reflected(handle); call                     of a method handle
//
// An exception that leaves such a call leaves its callee without an exit. The
// probes of the caller, or of whoever catches it, put that right as they do for
// an exception out of super(). At must be set before the first use.
func TokenSites(h Hooks) *Injector {
	p := Tokens(h)
	const enter, exit = 0, 1
	reflected := len(p.Calls)
	p.Calls = append(p.Calls, h.Reflected)
	p.Arounds = []Around{
		SiteHandle: {Before: Sequence{{Kind: StepReceiver}, {Kind: StepCall, Call: reflected}}},
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
