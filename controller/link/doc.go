// Package link is the connection of a session with the agent in the target:
// commands to the agent's thread through a FIFO, and requests of the target's
// threads through the mailbox of the data file.
//
// Each message is a type of this package. Its fields are listed once, in the
// order in which they travel, for reading, writing and describing alike; a test
// compares them with the table that the agent is built from
// (package jvmside/wire). [Commands] and [Requests] are the tables of messages.
//
// The package keeps no state of the target's. What a message means is the session's
// matter; package linktest has an agent without a JVM for tests.
package link
