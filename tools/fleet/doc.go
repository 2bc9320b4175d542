// Package fleet runs a fleet on one machine, with network, process and mount namespaces as
// hosts, and ends nodes, brokers and JVMs at random moments: what is counted must be what the
// programs have counted themselves (task test:fleet, as root). "simulate" measures a hub with a
// thousand nodes (task bench:fleet).
package fleet
