// Package agent runs users' scripts beside a recording, in Rivulet's own process.
//
// A script is a file in Starlark (go.starlark.net). It names functions that are called when
// something happens: the recording begins or ends, some time has gone by, a thread has executed
// so many bytecodes, a root invocation has ended. Such a call is an activation, the periodic
// activation of profiling agents of JP (Binder and Hulaas, Exact and Portable Profiling for the JVM
// Using Bytecode Instruction Counting, section 5). It
// sees the trees of all threads and what has changed since the script's last activation, and can
// print, write files, emit metrics, and steer the recording. docs/agents.md has the language.
//
// Guarantees: no code of a script runs in the target. A script writes only below its own folder.
// An activation is bounded in steps and time, a script in what it keeps in memory; memory is
// watched every few milliseconds, so a single operation may take more for a moment. A script that
// fails is disabled, with its traceback, and neither the recording nor other scripts notice.
// Trees that scripts see are sorted by name, so a deterministic program activated at exits gives
// the same output each time.
//
// A [Host] owns one goroutine from Start to Halt. Its other methods are safe for concurrent use
// unless they say otherwise.
package agent
