// Package spans has the test of root calls that are joined to spans of OpenTelemetry: with
// its API and SDK, and with its agent (go tool task test:spans).
package spans
