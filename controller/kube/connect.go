package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// A Config says which cluster, and how to get there.
type Config struct {
	File      string // kubeconfig; "" is what kubectl takes
	Context   string // of the kubeconfig; "" is the current one
	Namespace string // "" is that of the context
	Agent     string // the user agent
}

// pods are resources of the core group.
var pods = corev1.SchemeGroupVersion.WithResource("pods")

// groups are where the kinds of workloads are.
var groups = map[string]schema.GroupVersionResource{
	"deployments":  {Group: "apps", Version: "v1", Resource: "deployments"},
	"statefulsets": {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"daemonsets":   {Group: "apps", Version: "v1", Resource: "daemonsets"},
	"replicasets":  {Group: "apps", Version: "v1", Resource: "replicasets"},
	"jobs":         {Group: "batch", Version: "v1", Resource: "jobs"},
	"services":     corev1.SchemeGroupVersion.WithResource("services"),
}

// A client is a [Cluster] by client-go. The dynamic client knows no types: those of all API groups would
// make the binary tens of megabytes larger.
type client struct {
	config    *rest.Config
	dynamic   dynamic.Interface
	namespace string
}

// Connect reads a kubeconfig as kubectl does, and, within a pod without one, the pod's service account. Nothing is asked of
// the cluster yet.
func Connect(c Config) (Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.File
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	overrides.Context.Namespace = c.Namespace
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, &Error{
			Check: CheckConfig, Cause: "there is no cluster to talk to: " + err.Error(),
			Fix: "give --kubeconfig FILE or --context NAME, or set KUBECONFIG; kubectl config get-contexts lists what there is",
		}
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, err
	}
	// What client-go would write to stderr comes as errors, too.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	config.UserAgent = c.Agent
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NoWarnings{}
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &client{config: config, dynamic: d, namespace: namespace}, nil
}

func (c *client) in(namespace string) string {
	if namespace == "" {
		return c.namespace
	}
	return namespace
}

// Pods implements [Cluster].
func (c *client) Pods(ctx context.Context, w Which) ([]Pod, error) {
	namespace := c.in(w.Namespace)
	if w.Kind == "pods" {
		p, err := c.Pod(ctx, namespace, w.Name)
		if err != nil {
			return nil, err
		}
		return []Pod{*p}, nil
	}
	selector := w.Selector
	if w.Kind != "" {
		of, err := c.dynamic.Resource(groups[w.Kind]).Namespace(namespace).Get(ctx, w.Name, metav1.GetOptions{})
		if err != nil {
			return nil, explain(err, asked{"get", w.Kind, namespace, w.Name})
		}
		own, err := selectorOf(w.Kind, of)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", w.Kind, w.Name, err)
		}
		selector = strings.Trim(selector+","+own, ",")
	}
	if _, err := labels.Parse(selector); err != nil {
		return nil, fmt.Errorf("-l %s: %w", selector, err)
	}
	list, err := c.dynamic.Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, explain(err, asked{"list", "pods", namespace, ""})
	}
	var out []Pod
	for i := range list.Items {
		p, err := podOf(&list.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// selectorOf is which pods a workload has.
func selectorOf(kind string, of *unstructured.Unstructured) (string, error) {
	if kind == "services" { // plain labels
		own, _, err := unstructured.NestedStringMap(of.Object, "spec", "selector")
		if err == nil && len(own) == 0 {
			err = errors.New("it has no selector: give a label with -l")
		}
		return labels.SelectorFromSet(own).String(), err
	}
	var own metav1.LabelSelector
	raw, _, err := unstructured.NestedMap(of.Object, "spec", "selector")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &own)
	}
	if err != nil {
		return "", err
	}
	s, err := metav1.LabelSelectorAsSelector(&own)
	if err == nil && s.Empty() {
		err = errors.New("it has no selector: give a label with -l")
	}
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// Pod implements [Cluster].
func (c *client) Pod(ctx context.Context, namespace, name string) (*Pod, error) {
	namespace = c.in(namespace)
	u, err := c.dynamic.Resource(pods).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, explain(err, asked{"get", "pods", namespace, name})
	}
	return podOf(u)
}

// Exec implements [Cluster]. It speaks WebSocket, and SPDY with servers that don't.
func (c *client) Exec(ctx context.Context, at Place, s Streams, command ...string) error {
	u, err := execURL(c.config, at, command, s)
	if err != nil {
		return err
	}
	ws, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, u.String())
	if err != nil {
		return err
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, u)
	if err != nil {
		return err
	}
	both, err := remotecommand.NewFallbackExecutor(ws, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	err = both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Stderr: s.Err})
	var exit exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return &ExitError{exit.ExitStatus()}
	}
	return explain(err, asked{"create", "pods/exec", at.Namespace, at.Pod})
}

// execURL is where a command is started.
func execURL(c *rest.Config, at Place, command []string, s Streams) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, err
	}
	u := base.JoinPath("api/v1/namespaces", at.Namespace, "pods", at.Pod, "exec")
	q := url.Values{"container": {at.Container}, "command": command}
	for name, on := range map[string]bool{"stdin": s.In != nil, "stdout": s.Out != nil, "stderr": s.Err != nil} {
		if on {
			q.Set(name, "true")
		}
	}
	u.RawQuery = q.Encode()
	return u, nil
}

// AddEphemeral implements [Cluster].
func (c *client) AddEphemeral(ctx context.Context, at Place, e Ephemeral) error {
	no, yes := false, true
	security := &corev1.SecurityContext{RunAsUser: e.User, RunAsGroup: e.Group}
	if len(e.Caps) > 0 {
		security.Capabilities = &corev1.Capabilities{}
		for _, name := range e.Caps {
			security.Capabilities.Add = append(security.Capabilities.Add, corev1.Capability(name))
		}
	} else {
		security.AllowPrivilegeEscalation = &no
		security.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		security.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		if e.User != nil && *e.User != 0 {
			security.RunAsNonRoot = &yes
		}
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: e.Name, Image: e.Image, Command: e.Command, SecurityContext: security,
			ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		},
		TargetContainerName: at.Container,
	}}}})
	if err != nil {
		return err
	}
	_, err = c.dynamic.Resource(pods).Namespace(at.Namespace).Patch(ctx, at.Pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "ephemeralcontainers")
	if err != nil {
		return explain(err, asked{"patch", "pods/ephemeralcontainers", at.Namespace, at.Pod})
	}
	return nil
}

// podOf reads what is of use of a pod.
func podOf(u *unstructured.Unstructured) (*Pod, error) {
	var p corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
		return nil, fmt.Errorf("pod %s: %w", u.GetName(), err)
	}
	out := &Pod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Spec.NodeName, Phase: string(p.Status.Phase)}
	if p.DeletionTimestamp != nil {
		out.Phase = "Terminating"
	}
	for _, c := range p.Status.Conditions {
		out.Ready = out.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	state := func(name string, all []corev1.ContainerStatus) (c Container) {
		c.State = "not started yet"
		for _, s := range all {
			if s.Name == name {
				c.Running, c.Exited, c.State = stateOf(&s.State)
			}
		}
		c.Name = name
		return c
	}
	starting := append(slices.Clone(p.Spec.InitContainers), p.Spec.Containers...)
	for i := range starting {
		s := &starting[i]
		if i < len(p.Spec.InitContainers) && (s.RestartPolicy == nil || *s.RestartPolicy != corev1.ContainerRestartPolicyAlways) {
			continue // has ended when the others begin
		}
		c := state(s.Name, append(slices.Clone(p.Status.InitContainerStatuses), p.Status.ContainerStatuses...))
		c.Image = s.Image
		c.User, c.Group = whoRuns(&p, s)
		for _, m := range s.VolumeMounts {
			if !m.ReadOnly {
				c.Mounts = append(c.Mounts, m.MountPath)
			}
		}
		out.Containers = append(out.Containers, c)
	}
	for i := range p.Spec.EphemeralContainers {
		e := &p.Spec.EphemeralContainers[i]
		c := state(e.Name, p.Status.EphemeralContainerStatuses)
		c.Image = e.Image
		out.Ephemeral = append(out.Ephemeral, c)
	}
	return out, nil
}

// whoRuns is who a container runs as, where that is written down.
func whoRuns(p *corev1.Pod, c *corev1.Container) (user, group *int64) {
	if s := p.Spec.SecurityContext; s != nil {
		user, group = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil {
		if s.RunAsUser != nil {
			user = s.RunAsUser
		}
		if s.RunAsGroup != nil {
			group = s.RunAsGroup
		}
	}
	return user, group
}

func stateOf(s *corev1.ContainerState) (running, exited bool, text string) {
	switch {
	case s.Running != nil:
		return true, false, "running since " + s.Running.StartedAt.Local().Format(time.DateTime)
	case s.Terminated != nil:
		t := s.Terminated
		return false, true, strings.TrimRight(fmt.Sprintf("ended with code %d: %s: %s", t.ExitCode, t.Reason, strings.TrimSpace(t.Message)), ": ")
	case s.Waiting != nil:
		return false, false, strings.TrimRight(fmt.Sprintf("%s: %s", s.Waiting.Reason, s.Waiting.Message), ": ")
	}
	return false, false, "not started yet"
}
