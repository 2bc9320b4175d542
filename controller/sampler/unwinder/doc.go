// Package unwinder makes Java frames of a thread's registers and stack, from outside of a
// HotSpot JVM (JDK 8 to 25, x86-64) that runs on meanwhile. It knows HotSpot's code cache,
// its frames (interpreted, compiled by C1 and C2 with what is inlined, stubs, the way from
// C++ back into Java), the debug info of compiled code, and where methods have their names
// and lines.
//
// It is pure: registers, the bytes of the stack, the tables of where HotSpot has what
// ([Layout]) and a [Memory] come in, frames go out. It starts nothing, keeps no sample and
// never writes to the target.
//
// The target changes its memory while it is read. So every value is checked and every loop
// bounded: what makes no sense ends a walk as broken, with the reason, and never does more. A
// return address counts only if it stands behind a call in code that HotSpot has there. What
// was learnt of code and methods is compared with the target again every 100 ms
// ([Unwinder.Check]); a stack that rests on something that changed is given up, so flushed
// code and unloaded classes give no wrong names.
//
// A walk is complete if it reached the call stub through which the thread first entered Java.
// Frames that were found by a guess, each of which was checked so, are marked as heuristic. A
// virtual thread's frames that have moved to the heap are found there if the stack is as it was;
// else its stack ends as broken.
//
// An Unwinder is not safe for concurrent use.
package unwinder
