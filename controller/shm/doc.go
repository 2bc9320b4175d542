// Package shm is the controller's side of the memory that it shares with the
// agent in a target: the data file, its allocation and its words ([File]), the
// boxes of requests ([Mailbox]) and the cells of timed methods ([Timers]).
// The layout is in package wire (docs/formats.md). Nobody else needs to know
// where a word lies, except package cct and package event, which read trees and
// rings from the same memory.
//
// What the target wrote is not trusted: no word of it makes this package read or
// write beyond the mapping.
package shm
