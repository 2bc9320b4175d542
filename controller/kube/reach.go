package kube

import (
	"context"
	"fmt"
	"path"
)

// A Ready is a container from which a JVM can be looked at.
type Ready struct {
	At      Place    // where the worker is started
	Command []string // that starts it
	Unlink  bool     // the worker is a copy, which unlinks itself
	Found   []Finding
	Release func(context.Context)
}

// A Finding is something that does not stand in the way.
type Finding struct{ Check, Text string }

// A Way brings Rivulet to a container.
type Way interface {
	// Prepare returns nil if the container has no JVM for sure. tell is told how far it is.
	Prepare(ctx context.Context, c Cluster, p *Pod, container *Container, tell func(string)) (*Ready, error)
}

// Copying copies the binary into the container.
type Copying struct {
	Binary *Binary
	Room   int64 // bytes of memory that the container's limit must leave; 0 for any
}

// Prepare implements [Way].
func (w *Copying) Prepare(ctx context.Context, c Cluster, p *Pod, container *Container, tell func(string)) (*Ready, error) {
	at := Place{p.Namespace, p.Name, container.Name}
	tell("looking")
	v, err := Look(ctx, c, at, Folders(container.Mounts))
	if err != nil {
		return nil, err
	}
	if len(v.JVMs) == 0 {
		return nil, nil
	}
	if err := v.Room(at, w.Room); err != nil {
		return nil, err
	}
	tell("copying")
	name, err := Copy(ctx, c, at, v, w.Binary, func(sent, all int64) {
		tell(fmt.Sprintf("copying %d %%", 100*sent/max(all, 1)))
	})
	if err != nil {
		return nil, err
	}
	found := []Finding{{CheckPlace, "a program can be executed in " + path.Dir(name)}, {CheckMemory, "the container has no memory limit"}}
	if v.Limit > 0 {
		found[1].Text = fmt.Sprintf("the container's limit leaves %d MB", (v.Limit-v.Used)>>20)
	}
	return &Ready{At: at, Found: found, Command: []string{name, WorkerName}, Unlink: true, Release: func(ctx context.Context) { Remove(ctx, c, at, name) }}, nil
}

// Chosen are pods that can be looked at, the ready ones first, and why the others can't. most bounds their number; 0 is all.
func Chosen(all []Pod, most int) (chosen []Pod, left map[string]*Error) {
	left = map[string]*Error{}
	var later []Pod
	for _, p := range all {
		switch {
		case p.Phase != "Running":
			left[p.Name] = &Error{Check: CheckPod, Cause: fmt.Sprintf("pod %s does not run: %s", p.Name, p.Phase), Fix: "kubectl describe pod " + p.Name + " says why"}
		case p.Ready:
			chosen = append(chosen, p)
		default:
			later = append(later, p)
		}
	}
	chosen = append(chosen, later...)
	if most > 0 && len(chosen) > most {
		chosen = chosen[:most]
	}
	return chosen, left
}

// Candidates are the containers of a pod in which a JVM is looked for. The error says why there is none.
func Candidates(p *Pod, name string) ([]Container, error) {
	var out []Container
	var names []string
	for _, c := range p.Containers {
		names = append(names, c.Name)
		switch {
		case name != "" && c.Name != name:
		case name != "" && !c.Running:
			return nil, &Error{Check: CheckContainer, Cause: fmt.Sprintf("container %s of pod %s does not run: %s", c.Name, p.Name, c.State)}
		case c.Running:
			out = append(out, c)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case name != "":
		return nil, &Error{Check: CheckContainer, Cause: fmt.Sprintf("pod %s has no container %q; it has %v", p.Name, name, names)}
	}
	return nil, &Error{Check: CheckContainer, Cause: "no container of pod " + p.Name + " runs", Fix: "kubectl describe pod " + p.Name + " says why"}
}
