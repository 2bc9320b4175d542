// Package vmstructs reads from outside which methods a HotSpot JVM has invoked since
// it began. The JVM knows: a method gets its counters (MethodCounters) when it is first
// interpreted. One that was only ever called by compiled code, into which it was inlined, has
// none; it has a profile (MethodData), but so has what was inlined and never called.
//
// libjvm.so exports tables of where its own structures have what (vmStructs.cpp), for
// the serviceability agent. By these the structures are found in the memory of the
// process, which is read by process_vm_readv(2). The target does nothing for it, does not
// stop, and can't be harmed. What is read may change meanwhile, so every number is
// bounded, and whoever asks has to stand a wrong answer.
//
// JDK 11 to 25 have all that is needed; JDK 8 has no list of a loader's classes. Reading
// the memory takes what a debugger needs: the same user, and ptrace_scope 0 or
// CAP_SYS_PTRACE.
package vmstructs
