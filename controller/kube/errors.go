package kube

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An Error is a refusal, and what to do about it.
type Error struct {
	Check string // what stands in the way, in a word: "rbac", "noexec", "shell"
	Cause string
	Fix   string // "" if nothing can be done
	Err   error  // the underlying one, or nil
}

func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Cause
	}
	return e.Cause + "; " + e.Fix
}

func (e *Error) Unwrap() error { return e.Err }

// Checks are what errors can be about, for docs and tests.
const (
	CheckConfig     = "kubeconfig" // no cluster to talk to
	CheckLogin      = "login"      // the cluster does not know who asks
	CheckRBAC       = "rbac"       // who asks may not do this
	CheckSecurity   = "security"   // PodSecurity or another admission refuses
	CheckAdmission  = "admission"
	CheckMissing    = "missing"   // no such pod, workload or namespace
	CheckReach      = "reach"     // the server does not answer
	CheckEphemeral  = "ephemeral" // ephemeral containers are not to be had
	CheckPod        = "pod"       // the pod does not run
	CheckContainer  = "container" // there is no such container, or it does not run
	CheckImage      = "image"     // the image can't be had or started
	CheckShell      = "shell"     // the container has no shell
	CheckPlace      = "place"     // nowhere to put the binary where it can be executed
	CheckMemory     = "memory"    // too near to the container's limit
	CheckBinary     = "binary"    // the binary does not run there
	CheckJVM        = "jvm"       // none, or several
	CheckConnection = "connection"
)

// asked is what was asked of the API server.
type asked struct{ verb, resource, namespace, name string }

var (
	violates = regexp.MustCompile(`violates PodSecurity "([^"]+)": (.*)`)
	cannot   = regexp.MustCompile(`is forbidden: User .* cannot `)
	noShell  = regexp.MustCompile(`executable file not found|no such file or directory|command not found|not found in \$PATH`)
)

// explain says what an error of the API server means for a person.
func explain(err error, a asked) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	text := err.Error()
	of := a.resource
	if a.name != "" {
		of += " " + a.name
	}
	var wrongURL *url.Error
	var network net.Error
	switch m := violates.FindStringSubmatch(text); {
	case m != nil:
		return &Error{CheckSecurity, fmt.Sprintf("the namespace's PodSecurity standard %q refuses the ephemeral container: %s", m[1], m[2]), "give the user id that the JVM runs as with --user, or copy the binary instead (--copy)", err}
	case cannot.MatchString(text): // exec's refusals come as texts
		return &Error{
			CheckRBAC, fmt.Sprintf("you may not %s %s in namespace %s", a.verb, a.resource, a.namespace),
			fmt.Sprintf("whoever administers the cluster can allow it: kubectl create role rivulet -n %[3]s --verb=%[1]s --resource=%[2]s, and a rolebinding for you", a.verb, a.resource, a.namespace), err,
		}
	case apierrors.IsForbidden(err):
		return &Error{CheckAdmission, fmt.Sprintf("the cluster refuses to %s %s: %s", a.verb, of, text), "an admission controller decides that: its message says what it wants", err}
	case apierrors.IsUnauthorized(err):
		return &Error{CheckLogin, "the cluster does not accept your credentials", "log in again, as for kubectl; kubectl auth whoami tells who you are", err}
	case apierrors.IsNotFound(err) && a.resource == "pods/ephemeralcontainers":
		return &Error{CheckEphemeral, "ephemeral containers are not to be had in this cluster, or the pod has gone: " + text, "they are there from Kubernetes 1.25 on; copy the binary instead (--copy)", err}
	case apierrors.IsNotFound(err):
		return &Error{CheckMissing, fmt.Sprintf("there is no %s in namespace %s", of, a.namespace), "rivulet kube ps lists the pods; -n chooses the namespace, --context the cluster", err}
	case a.resource == "pods/ephemeralcontainers" && apierrors.IsInvalid(err):
		return &Error{CheckEphemeral, "the cluster refuses the ephemeral container: " + text, "copy the binary instead (--copy)", err}
	case a.resource == "pods/exec" && strings.Contains(text, "container not found"):
		return &Error{CheckContainer, fmt.Sprintf("pod %s has no such container, or it does not run", a.name), "rivulet kube ps lists the containers", err}
	case a.resource == "pods/exec" && noShell.MatchString(text):
		return noShellIn(a.name, err)
	case errors.As(err, &wrongURL), errors.As(err, &network):
		return &Error{CheckReach, "the cluster can't be reached: " + text, "is the address of the context right, and does kubectl get it?", err}
	}
	return fmt.Errorf("%s %s in namespace %s: %w", a.verb, of, a.namespace, err)
}

func noShellIn(pod string, err error) *Error {
	return &Error{CheckShell, "the container of pod " + pod + " has no shell, so nothing can be copied to it", "use an ephemeral container: --image IMAGE, with an image of Rivulet that the cluster can pull", err}
}
