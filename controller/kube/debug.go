package kube

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Debugging adds an ephemeral container to the pod, which sees the processes of the container that is looked at.
type Debugging struct {
	Image string
	User  *int64 // who it runs as; nil is whoever the JVM runs as, where that can be told, else the image's user

	Pull time.Duration // how long the image may take to come and start
}

// program is where images of Rivulet have the binary.
const program = "/usr/bin/rivulet"

// wanted are capabilities that root has use for. They are worth nothing to other users, and not needed for a JVM of the same user.
var wanted = []string{"SYS_PTRACE", "PERFMON"}

// Prepare implements [Way].
func (w *Debugging) Prepare(ctx context.Context, c Cluster, p *Pod, container *Container, tell func(string)) (*Ready, error) {
	at := Place{p.Namespace, p.Name, container.Name}
	user := w.User
	if user == nil {
		user = container.User
	}
	tell("looking")
	if v, err := Look(ctx, c, at, nil); err == nil { // without a shell nothing is known, and may be so
		if len(v.JVMs) == 0 {
			return nil, nil
		}
		if id := int64(v.JVMs[0].User); w.User == nil {
			user = &id
		}
	}
	e := Ephemeral{Name: "rivulet-" + strings.ToLower(rand.Text()[:6]), Image: w.Image, User: user, Group: container.Group}
	e.Command = []string{program, WorkerName, "--hold", e.Name}
	if user == nil || *user == 0 {
		e.Caps = wanted
	}
	tell("adding")
	err := c.AddEphemeral(ctx, at, e)
	var refused *Error
	if errors.As(err, &refused) && refused.Check == CheckSecurity && len(e.Caps) > 0 {
		e.Caps = nil
		err = c.AddEphemeral(ctx, at, e)
	}
	if err != nil {
		return nil, err
	}
	if err := w.await(ctx, c, p, e.Name, tell); err != nil {
		return nil, err
	}
	own := Place{p.Namespace, p.Name, e.Name}
	who := "the image's user"
	if user != nil {
		who = fmt.Sprintf("user %d", *user)
	}
	found := []Finding{{CheckEphemeral, fmt.Sprintf("the ephemeral container %s runs as %s, with capabilities %v", e.Name, who, e.Caps)}}
	return &Ready{At: own, Found: found, Command: []string{program, WorkerName, "--held", e.Name}, Release: func(context.Context) {}}, nil
}

// pollEach is how often a pod is asked whether its new container runs.
const pollEach = 300 * time.Millisecond

// never are reasons to wait that do not go away.
var never = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

// await waits until the ephemeral container runs.
func (w *Debugging) await(ctx context.Context, c Cluster, p *Pod, name string, tell func(string)) error {
	end := time.Now().Add(w.Pull)
	for {
		now, err := c.Pod(ctx, p.Namespace, p.Name)
		if err != nil {
			return err
		}
		state := "not started yet"
		for _, e := range now.Ephemeral {
			if e.Name != name {
				continue
			}
			if e.Running {
				return nil
			}
			reason, _, _ := strings.Cut(e.State, ":")
			if state = e.State; e.Exited || slices.Contains(never, reason) {
				return &Error{Check: CheckImage, Cause: fmt.Sprintf("the ephemeral container of pod %s, of image %s, does not run: %s", p.Name, w.Image, state), Fix: imageFix(reason)}
			}
		}
		if time.Now().After(end) {
			return &Error{Check: CheckImage, Cause: fmt.Sprintf("the ephemeral container of pod %s did not run within %v: %s", p.Name, w.Pull, state), Fix: "kubectl describe pod " + p.Name + " says why"}
		}
		tell("pulling")
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEach):
		}
	}
}

func imageFix(reason string) string {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		return "--image must name an image of Rivulet that the cluster can pull, with the pod's pull secrets"
	case "CreateContainerConfigError":
		return "give the user id that the JVM runs as with --user"
	}
	return "the image must have Rivulet at " + program
}

// holdAddress is a socket in the abstract name space, which all containers of a pod share.
func holdAddress(name string) string { return "@rivulet-kube-" + name }

// Hold keeps an ephemeral container running until a worker has come by [Held] and gone, or none has come in a time.
func Hold(name string, patience time.Duration) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: holdAddress(name), Net: "unix"})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return fmt.Errorf("nobody came: %w", err)
	}
	defer conn.Close()
	_, _ = conn.Read(make([]byte, 1)) // ends when the worker does
	return nil
}

// heldWait is how long the container's first process may take to listen.
const heldWait = 10 * time.Second

// Held has an ephemeral container end when this process does, or before by the function that it returns.
func Held(name string) (release func(), err error) {
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("unix", holdAddress(name))
		if err == nil {
			return func() { conn.Close() }, nil
		}
		if time.Since(begun) > heldWait {
			return nil, fmt.Errorf("the ephemeral container ends already: %w", err)
		}
	}
}
