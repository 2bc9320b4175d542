// Package vmstructs reads the memory of a HotSpot JVM from outside, by the tables that
// libjvm.so exports for the serviceability agent (vmStructs.cpp): where the JVM's own
// structures have what ([Tables]). The memory is read by process_vm_readv(2) ([Process]). The
// target does nothing for it, does not stop, and can't be harmed. What is read may change
// meanwhile, so every number is bounded, and whoever asks has to stand a wrong answer.
//
// With these it knows which methods a JVM has invoked since it began ([Read]): a method gets its
// counters (MethodCounters) when it is first interpreted. One that was only ever called by
// compiled code, into which it was inlined, has none; it has a profile (MethodData), but so has
// what was inlined and never called. JDK 11 to 25 have all that is needed for this; JDK 8 has no
// list of a loader's classes.
//
// Reading the memory takes what a debugger needs: the same user, and ptrace_scope 0 or
// CAP_SYS_PTRACE.
package vmstructs
