// Package flight has JDK Flight Recorder record beside a recording of Rivulet's, for what probes can't
// tell: how long class loads took, who waited for locks, what was allocated on the heap. Flight Recorder knows
// no call paths of ours, so its stacks are looked for in the tree.
//
// What a JVM without Flight Recorder can't tell, a note says; nothing of it is an error.
package flight
