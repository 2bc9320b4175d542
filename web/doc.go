// Package web is the live page and its REST interface: it shows the JVMs of
// this machine, attaches to one, records, and lets any number of browsers look
// at the tree while it grows.
//
// What is shown is package live's: a [Server] has one [live.Live], the recording that
// all clients see, and a [Hub] of [Client] connections. This package adds HTTP, the
// WebSocket, and who may come in.
//
// Nothing waits for a client: each has a writer of its own that takes the
// latest frame when it has got rid of the last message, so a slow one sees
// fewer pictures and nobody else notices.
//
// Who may come in: those who know the secret of the URL that was printed.
// Requests with another Host (DNS rebinding) or Origin (other pages) than the
// server's own are refused before anything is looked at. docs/formats-web.md
// describes the protocol.
//
// All exported methods are safe for concurrent use unless they say otherwise.
package web
