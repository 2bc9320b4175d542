// Package probe puts probes into methods of class files.
//
// A probed method keeps a token in a fresh local variable for the whole
// invocation:
//
//	long token = Hooks.Enter(id)      at the entry, before everything
//	Hooks.Exit(token)                 before each return
//	Hooks.Resync(token)               at the start of each handler that was there
//	catch (Throwable t) { Hooks.Thrown(token); throw t; }   around everything
//
// Where the method calls nothing and returns a number, its exits first tie the token
// to that, so that what was computed was computed before the exit:
//
//	token = (long) result ^ ((long) result ^ token)
//
// What the method did before it still does: constants are only appended,
// existing handlers keep their precedence, and everything in the Code
// attribute that holds an offset moves with the code (JVMS §4.7.3 to §4.7.20).
// A jump back to the first instruction goes behind the entry probe, so a loop
// is no second entry. In a constructor no handler covers the call of super()
// or this(), which would not verify (JVMS §4.10.1.9); an exception that leaves
// that call leaves the method without a probe.
//
// That is one [Program]; others may be injected through [NewInjector], also at
// basic blocks and allocations, and before and around calls. [TokenSites] are the
// token probes with probes around calls whose callees can't have any.
//
// A method that can't be rewritten is an answer, [Skipped], with its reason;
// the only error is for bytes that are no class file. The rewriter checks what
// it needs to move the code, not whether the code verifies. The functions are
// pure and safe for concurrent use.
package probe
