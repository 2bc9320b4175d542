// Package governor holds the cost of a recording within a budget: a share by which the
// program may be slower than without probes.
//
// A [Governor] is told again and again what was called since it was asked last, and how much
// processor time the program took ([Look]). From that and from what a probe costs in each
// [Mode] ([Costs]) it estimates the slow-down. It answers with the [Setting] that is to hold from
// now on. It lowers the cost in this order, and raises it again in the reverse one:
//
//  1. record one of N root invocations;
//  2. time by ticks what was to be timed precisely;
//  3. count short methods without timing them;
//  4. switch the probes of the hottest short methods off;
//  5. have the probes of those taken out that are off and still cost too much.
//
// All estimates are made per second of processor time that the program needs without probes, so a
// load that rises or falls changes nothing in them. How many calls a method has where nobody
// records is inferred from the invocations that are recorded: calls from outside of the roots,
// which also pass dormant probes, are not known. [Governor.Weigh] compares stretches in which every root
// invocation is recorded with stretches in which none is, and scales the estimates by what that
// comes to.
//
// The package is pure: it knows neither a JVM nor a clock. It is not safe for concurrent use.
package governor
