// Package kube reaches JVMs in the pods of a Kubernetes cluster, without a daemon on the nodes.
//
// A [Cluster] is what is asked of the API server; [Connect] makes one by client-go. Everything else of the
// package stands on that interface alone: which pods are meant, what a container has and lacks ([Look]),
// how the binary of Rivulet gets there ([Copy], [Debug]), what is said with it while it works ([Talk], [Serve]),
// and why something was refused ([Error]).
//
// Nothing stays in a container that the binary was copied to: its process unlinks it before it does anything
// else, and ends when nobody talks to it any more. An ephemeral container ends by itself; its
// entry stays in the pod until the pod ends, since Kubernetes can't remove it.
package kube
