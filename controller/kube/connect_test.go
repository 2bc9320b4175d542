package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"
	ktesting "k8s.io/client-go/testing"
)

// fakeClient is a client of a server that has some pods and workloads.
func fakeClient(t *testing.T) (*client, *fake.FakeDynamicClient) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	pod := func(name, app string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}}}
		user, group, always := int64(1000), int64(2000), corev1.ContainerRestartPolicyAlways
		p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user}
		p.Spec.InitContainers = []corev1.Container{{Name: "once"}, {Name: "proxy", RestartPolicy: &always}}
		p.Spec.Containers = []corev1.Container{{
			Name: "app", Image: "orders:7", SecurityContext: &corev1.SecurityContext{RunAsGroup: &group},
			VolumeMounts: []corev1.VolumeMount{{MountPath: "/data"}, {MountPath: "/config", ReadOnly: true}},
		}}
		p.Status.Phase = phase
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}}}
		return p
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"orders"}}}}
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all"}}
	empty := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "empty"}}
	s.Spec.Selector = map[string]string{"app": "billing"}
	f := fake.NewSimpleDynamicClient(scheme, pod("orders-2", "orders", corev1.PodRunning), pod("orders-1", "orders", corev1.PodRunning), pod("billing", "billing", corev1.PodPending), d, s, empty)
	return &client{dynamic: f, namespace: "shop"}, f
}

// TestPods chooses pods in each way.
func TestPods(t *testing.T) {
	c, _ := fakeClient(t)
	for _, one := range []struct {
		w    Which
		want string
	}{
		{Which{}, "billing orders-1 orders-2"},
		{Which{Selector: "app=orders"}, "orders-1 orders-2"},
		{Which{Selector: "app!=orders"}, "billing"},
		{Which{Kind: "deployments", Name: "orders"}, "orders-1 orders-2"},
		{Which{Kind: "deployments", Name: "orders", Selector: "app=billing"}, ""},
		{Which{Kind: "services", Name: "all"}, "billing"},
		{Which{Kind: "pods", Name: "orders-2"}, "orders-2"},
		{Which{Namespace: "other"}, ""},
	} {
		all, err := c.Pods(t.Context(), one.w)
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != one.want {
			t.Errorf("%s: %q, %v", one.w.Text(), got, err)
		}
	}
	for _, w := range []Which{{Kind: "deployments", Name: "none"}, {Kind: "pods", Name: "none"}} {
		if _, err := c.Pods(t.Context(), w); checkOf(err) != CheckMissing {
			t.Errorf("%s: %v", w.Text(), err)
		}
	}
	for _, w := range []Which{{Kind: "statefulsets", Name: "empty"}, {Selector: "a=="}, {Selector: "==b"}} {
		if all, err := c.Pods(t.Context(), w); err == nil && len(all) > 0 {
			t.Errorf("%s: %v", w.Text(), all)
		}
	}
	p, err := c.Pod(t.Context(), "", "orders-1")
	if err != nil || len(p.Containers) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if proxy := p.Containers[0]; proxy.Name != "proxy" || !proxy.Running {
		t.Errorf("%+v", proxy)
	}
	if app := p.Containers[1]; app.Running || app.State != "CrashLoopBackOff: back-off" || app.Image != "orders:7" || !slices.Equal(app.Mounts, []string{"/data"}) || *app.User != 1000 || *app.Group != 2000 {
		t.Errorf("%+v", app)
	}
}

// TestRefused says what each refusal of a server means.
func TestRefused(t *testing.T) {
	c, f := fakeClient(t)
	var refusal error
	f.PrependReactor("*", "*", func(ktesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	resource := schema.GroupResource{Resource: "pods"}
	for _, one := range []struct {
		err   error
		check string
		says  string
	}{
		{apierrors.NewForbidden(resource, "", errors.New(`User "anna" cannot list resource "pods" in API group "" in the namespace "shop"`)), CheckRBAC, "--verb=list --resource=pods"},
		{errors.New(`unable to upgrade connection: pods "x" is forbidden: User "anna" cannot create resource "pods/exec" in API group "" in the namespace "shop"`), CheckRBAC, "you may not list pods"},
		{apierrors.NewForbidden(resource, "x", errors.New(`quota exceeded`)), CheckAdmission, "quota exceeded"},
		{apierrors.NewUnauthorized("no"), CheckLogin, "kubectl auth whoami"},
		{&url.Error{Op: "Get", URL: "https://x", Err: errors.New("connection refused")}, CheckReach, "connection refused"},
		{errors.New("odd"), "", "list pods in namespace shop: odd"},
	} {
		refusal = one.err
		if _, err := c.Pods(t.Context(), Which{}); checkOf(err) != one.check || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%v: %v", one.err, err)
		}
	}
	for _, one := range []struct {
		err   error
		check string
	}{
		{apierrors.NewForbidden(resource, "x", errors.New(`violates PodSecurity "baseline:latest": non-default capabilities (container "rivulet-1" must not include "SYS_PTRACE")`)), CheckSecurity},
		{apierrors.NewForbidden(resource, "x", errors.New(`User "anna" cannot patch resource "pods/ephemeralcontainers"`)), CheckRBAC},
		{apierrors.NewNotFound(resource, "x"), CheckEphemeral},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), CheckEphemeral},
	} {
		refusal = one.err
		if err := c.AddEphemeral(t.Context(), here, Ephemeral{}); checkOf(err) != one.check {
			t.Errorf("%v: %v", one.err, err)
		}
	}
}

// TestEphemeral looks at what is asked for.
func TestEphemeral(t *testing.T) {
	c, f := fakeClient(t)
	var patch ktesting.PatchAction
	f.PrependReactor("patch", "pods", func(a ktesting.Action) (bool, runtime.Object, error) {
		patch = a.(ktesting.PatchAction)
		return true, &unstructured.Unstructured{}, nil
	})
	user := int64(1000)
	if err := c.AddEphemeral(t.Context(), here, Ephemeral{Name: "rivulet-1", Image: "r:1", Command: []string{"/rivulet"}, User: &user, Caps: []string{"SYS_PTRACE"}}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Spec struct{ EphemeralContainers []corev1.EphemeralContainer }
	}
	if err := json.Unmarshal(patch.GetPatch(), &got); err != nil {
		t.Fatal(err)
	}
	e := got.Spec.EphemeralContainers[0]
	if patch.GetSubresource() != "ephemeralcontainers" || e.TargetContainerName != "app" || *e.SecurityContext.RunAsUser != 1000 || e.SecurityContext.Capabilities.Add[0] != "SYS_PTRACE" || e.SecurityContext.RunAsNonRoot != nil {
		t.Errorf("%s", patch.GetPatch())
	}
	if err := c.AddEphemeral(t.Context(), here, Ephemeral{User: &user}); err != nil {
		t.Fatal(err)
	}
	got.Spec.EphemeralContainers = nil
	if err := json.Unmarshal(patch.GetPatch(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Spec.EphemeralContainers[0].SecurityContext
	if *s.AllowPrivilegeEscalation || !*s.RunAsNonRoot || s.Capabilities.Drop[0] != "ALL" || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("not what the profile restricted wants: %s", patch.GetPatch())
	}
}

func TestExecURL(t *testing.T) {
	u, err := execURL(&rest.Config{Host: "https://cluster:6443/prefix"}, here, []string{"sh", "-c", "a b&c"}, Streams{Out: os.Stdout})
	if want := "https://cluster:6443/prefix/api/v1/namespaces/shop/pods/orders-1/exec?command=sh&command=-c&command=a+b%26c&container=app&stdout=true"; err != nil || u.String() != want {
		t.Errorf("%v, %v", u, err)
	}
}

// TestConnect reads kubeconfigs.
func TestConnect(t *testing.T) {
	name := filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", name)
	if _, err := Connect(Config{}); checkOf(err) != CheckConfig {
		t.Errorf("no kubeconfig: %v", err)
	}
	text := `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://cluster"}}],
"users":[{"name":"u","user":{"token":"x"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u","namespace":"shop"}},{"name":"b","context":{"cluster":"c","user":"u"}}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[Config]string{{}: "shop", {Context: "b"}: "default", {Namespace: "x"}: "x", {File: name, Context: "b", Namespace: "y"}: "y"} {
		c, err := Connect(config)
		if err != nil || c.(*client).namespace != want {
			t.Errorf("%+v: %v", config, err)
		}
	}
	for _, config := range []Config{{Context: "none"}, {File: name + "x"}} {
		if _, err := Connect(config); checkOf(err) != CheckConfig {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"deploy/orders": "deployments orders", "sts/db": "statefulsets db", "pod/x": "pods x", "x": "pods x", "svc/y": "services y",
		"node/x": "", "deploy/": "", "a/b/c": "", "": "",
	} {
		kind, name, err := ParseTarget(text)
		if got := strings.TrimSpace(fmt.Sprint(kind, " ", name)); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// TestChosen leaves out pods that don't run, and takes ready ones first.
func TestChosen(t *testing.T) {
	all := []Pod{{Name: "a", Phase: "Running"}, {Name: "b", Phase: "Pending"}, {Name: "c", Phase: "Running", Ready: true}, {Name: "d", Phase: "Running", Ready: true}}
	chosen, left := Chosen(all, 0)
	if len(chosen) != 3 || chosen[0].Name != "c" || chosen[2].Name != "a" || left["b"].Check != CheckPod {
		t.Errorf("%+v, %v", chosen, left)
	}
	if chosen, _ = Chosen(all, 2); len(chosen) != 2 || chosen[1].Name != "d" {
		t.Errorf("%+v", chosen)
	}
	p := &Pod{Name: "a", Containers: []Container{{Name: "app", Running: true}, {Name: "web", State: "ImagePullBackOff"}}}
	for name, want := range map[string]string{"": "", "app": "", "web": CheckContainer, "none": CheckContainer} {
		if list, err := Candidates(p, name); checkOf(err) != want || want == "" && list[0].Name != "app" {
			t.Errorf("%q: %v, %v", name, list, err)
		}
	}
	p.Containers[0].Running = false
	if _, err := Candidates(p, ""); checkOf(err) != CheckContainer {
		t.Error(err)
	}
}
