package kube

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// A Cluster is what is asked of an API server. Errors are [*Error] where a person can do something about them.
type Cluster interface {
	// Pods are those that are meant, in order of their names.
	Pods(ctx context.Context, w Which) ([]Pod, error)
	// Pod is how a pod is now.
	Pod(ctx context.Context, namespace, name string) (*Pod, error)
	// Exec runs a command in a container and returns when it has ended and its output is read. A command that
	// fails is an [*ExitError].
	Exec(ctx context.Context, at Place, s Streams, command ...string) error
	// AddEphemeral adds an ephemeral container to a pod.
	AddEphemeral(ctx context.Context, at Place, e Ephemeral) error
}

// A Place is a container of a pod.
type Place struct{ Namespace, Pod, Container string }

// String is NAMESPACE/POD/CONTAINER.
func (p Place) String() string { return p.Namespace + "/" + p.Pod + "/" + p.Container }

// Streams are those of a command; nil ones are not connected.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// An ExitError is a command that ended with a code other than 0.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Which says which pods are meant.
type Which struct {
	Namespace string // "" is that of the context
	Selector  string // of labels; "" if Kind and Name say it
	Kind      string // of a workload, "pods", or "" for all pods
	Name      string
}

// A Pod is what is known of a pod.
type Pod struct {
	Namespace  string
	Name       string
	UID        string
	Node       string
	Phase      string // Running, Pending and so on
	Ready      bool
	Containers []Container
	Ephemeral  []Container
}

// A Container is one of a pod.
type Container struct {
	Name    string
	Image   string
	Running bool
	State   string   // why it is not: "Waiting: ImagePullBackOff: ..."
	Exited  bool     // it has ended
	Mounts  []string // where volumes are mounted that can be written to

	User  *int64 // who it runs as, where the pod says so
	Group *int64
}

// An Ephemeral is a container that is added to a pod which runs.
type Ephemeral struct {
	Name    string
	Image   string
	Command []string
	User    *int64
	Group   *int64
	Caps    []string // added; without any, and as another user than root, it is as PodSecurity's standard "restricted" wants it
}

// kinds are the workloads that can be named, by what people call them.
var kinds = map[string]string{
	"deploy": "deployments", "deployment": "deployments", "deployments": "deployments",
	"sts": "statefulsets", "statefulset": "statefulsets", "statefulsets": "statefulsets",
	"ds": "daemonsets", "daemonset": "daemonsets", "daemonsets": "daemonsets",
	"rs": "replicasets", "replicaset": "replicasets", "replicasets": "replicasets",
	"job": "jobs", "jobs": "jobs",
	"svc": "services", "service": "services", "services": "services",
	"po": "pods", "pod": "pods", "pods": "pods",
}

// ParseTarget reads KIND/NAME, or the name of a pod.
func ParseTarget(text string) (kind, name string, err error) {
	k, name, found := strings.Cut(text, "/")
	if !found {
		k, name = "pod", text
	}
	if kind = kinds[k]; kind == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q: give deploy/NAME, sts/NAME, ds/NAME, rs/NAME, job/NAME, svc/NAME, pod/NAME or the name of a pod", text)
	}
	return kind, name, nil
}

// Text is what was asked for.
func (w Which) Text() string {
	switch {
	case w.Kind != "" && w.Selector != "":
		return fmt.Sprintf("%s/%s and -l %s", w.Kind, w.Name, w.Selector)
	case w.Kind != "":
		return w.Kind + "/" + w.Name
	case w.Selector != "":
		return "-l " + w.Selector
	}
	return "the whole namespace"
}
