// Package link connects commands and nodes of a fleet with their broker, by NATS and its
// JetStream.
//
// What must not get lost is published to a stream with an id, again and again until the
// broker says that it has it: the broker drops repeats within [repeatsWithin], and readers
// drop all others. Nodes take commands as a durable consumer, and acknowledge each when it
// is on their disk. Reports that are too large for a message go through an object store.
// What is only of use at the moment (progress, who is there) is published without any of this.
//
// Errors are those of NATS or of the context; they wrap [ErrRefused] where the broker does not
// allow something, and [ErrNotSetUp] where it keeps nothing of a fleet.
//
// A [Link] may be used by several goroutines. It connects again by itself, for ever.
package link
