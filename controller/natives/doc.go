// Package natives finds the calls around which native methods are recorded: a native has no
// bytecode, so its probes lie where it is called, if the call can run nothing else
// (docs/decisions, 13). A class that is loaded later may change what a call can run.
package natives
