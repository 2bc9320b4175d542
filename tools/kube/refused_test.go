package kube

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// record records while a container's program handles n orders, and returns what came of it.
func (k *kubelet) record(t *testing.T, config, id string, n int, args ...string) report {
	t.Helper()
	cmd, out, errs := kubeCommand(t, config, append([]string{"profile"}, append(args, "--root", "Orders.order", "--scheme", "A", "--format", "json")...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	t.Cleanup(func() { t.Logf("%s", errs) })
	wait(t, "a recording", func() bool { return strings.Contains(errs.String(), "recording in 1 JVM") })
	k.order(id, n)
	cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Fatalf("code %d, %v\n%s%s", cmd.ProcessState.ExitCode(), err, out, errs)
	}
	return r
}

// TestEphemeral records in a container without a shell, in a namespace that enforces PodSecurity's standard "restricted", by an ephemeral container.
func TestEphemeral(t *testing.T) {
	for _, one := range []struct {
		name, standard string
		user           int64
	}{{"root", "baseline", 0}, {"restricted", "restricted", 1000}} {
		t.Run(one.name, func(t *testing.T) {
			k := startKubelet(t, "node-ephemeral-"+one.name)
			ns := space(t, nil)
			app := java("app", imageBare)
			app.SecurityContext = &corev1.SecurityContext{RunAsUser: &one.user}
			if one.user != 0 {
				no, yes := false, true
				app.SecurityContext.RunAsNonRoot, app.SecurityContext.AllowPrivilegeEscalation = &yes, &no
				app.SecurityContext.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
				app.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
			}
			k.pod(ns, "orders-1", app)
			enforce(t, ns, one.standard)
			config := servers.kubeconfig(t, adminToken, ns)
			id := key(ns, "orders-1", "app")
			r := kubeRun(t, config, "profile", "deploy/orders", "--root", "Orders.order", "--for", "1s")
			if r.code != 1 || !strings.Contains(r.err, "has no shell") || !strings.Contains(r.err, "--image") {
				t.Errorf("copied without a shell: %+v", r)
			}
			got := k.record(t, config, id, 700, "deploy/orders", "--image", imageRivulet)
			orders, _ := got.calls("Orders.order")
			items, _ := got.calls("Orders.item")
			if orders != 700 || items != 1400 || !got.Exact || got.Processes[0].Host != "orders-1" {
				t.Errorf("%d orders with %d items, %+v", orders, items, got.Processes)
			}
			p, err := servers.api.CoreV1().Pods(ns).Get(t.Context(), "orders-1", metav1.GetOptions{})
			if err != nil || len(p.Spec.EphemeralContainers) != 1 {
				t.Fatalf("%v, %+v", err, p.Spec.EphemeralContainers)
			}
			e := p.Spec.EphemeralContainers[0]
			if e.SecurityContext == nil || e.SecurityContext.RunAsUser == nil && one.user != 0 || len(e.SecurityContext.Capabilities.Add) > 0 {
				t.Errorf("%+v", e.SecurityContext)
			}
			// It ends by itself.
			c := k.of(key(ns, "orders-1", e.Name))
			select {
			case <-c.ended:
			case <-time.After(startLong):
				t.Fatal("the ephemeral container still runs")
			}
			if c.code != 0 {
				t.Errorf("it ended with code %d: %s", c.code, c.out)
			}
		})
	}
}

// enforce has PodSecurity's admission look at the namespace.
func enforce(t *testing.T, ns, standard string) {
	t.Helper()
	n, err := servers.api.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
	if err == nil {
		n.Labels["pod-security.kubernetes.io/enforce"] = standard
		_, err = servers.api.CoreV1().Namespaces().Update(t.Context(), n, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefused meets what can stand in the way, and wants each explained.
func TestRefused(t *testing.T) {
	k := startKubelet(t, "node-refused")
	ns := space(t, nil)
	config := servers.kubeconfig(t, adminToken, ns)
	yes := true
	noexec := java("app", imageJava)
	noexec.Env = []corev1.EnvVar{{Name: "TEST_TMP", Value: "mode=1777,noexec"}}
	noexec.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: &yes}
	k.pod(ns, "noexec", noexec)
	two := java("app", imageJava)
	two.Command = []string{"sh", "-c", strings.Join(two.Command, " ") + " & exec " + strings.Join(two.Command, " ")}
	k.pod(ns, "two", two)
	k.pod(ns, "zz-idle", corev1.Container{Name: "app", Image: imageJava, Command: []string{"sleep", "600"}})
	pending := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pending"}, Spec: corev1.PodSpec{Containers: []corev1.Container{java("app", imageJava)}}}
	if _, err := servers.api.CoreV1().Pods(ns).Create(t.Context(), pending, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	profile := func(config string, args ...string) ran {
		return kubeRun(t, config, append([]string{"profile"}, append(args, "--root", "Orders.order", "--for", "1s")...)...)
	}
	for _, one := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"noexec"}, 1, []string{"/tmp is mounted noexec", "/dev/shm is mounted noexec", "--image"}},
		{[]string{"two"}, 1, []string{"there are several JVMs in this container", "--pid"}},
		{[]string{"zz-idle"}, 1, []string{"no container of pod zz-idle has a JVM"}},
		{[]string{"pending"}, 1, []string{"pod pending does not run: Pending"}},
		{[]string{"none"}, 2, []string{"there is no pods none in namespace " + ns}},
		{[]string{"two", "--container", "web"}, 1, []string{`no container "web"`}},
		{[]string{"noexec", "--image", imageMissing}, 1, []string{"ImagePullBackOff", "that the cluster can pull"}},
		{[]string{"noexec", "--context", "elsewhere"}, 2, []string{"elsewhere"}},
	} {
		r := profile(config, one.args...)
		for _, text := range one.says {
			if !strings.Contains(r.err, text) {
				t.Errorf("%v does not say %q", one.args, text)
			}
		}
		if r.code != one.code {
			t.Errorf("%v: code %d", one.args, r.code)
		}
	}

	// Rights are given one after another; each time the next one is named.
	anna := servers.kubeconfig(t, annaToken, ns)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "rivulet"}}
	role, err := servers.api.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "rivulet"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "rivulet"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "anna"}},
	}
	if _, err := servers.api.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		group, verb, resource string
		args                  []string
	}{
		{"apps", "get", "deployments", []string{"deploy/orders"}},
		{"", "list", "pods", []string{"deploy/orders"}},
		{"", "create", "pods/exec", []string{"deploy/orders", "--pods", "1"}},
		{"", "patch", "pods/ephemeralcontainers", []string{"-l", "app=orders", "--pods", "1", "--image", imageRivulet}},
	} {
		r := profile(anna, one.args...)
		if want := fmt.Sprintf("you may not %s %s in namespace %s", one.verb, one.resource, ns); r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("%q is missing; code %d: %s", want, r.code, r.err)
		}
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{one.group}, Resources: []string{one.resource}, Verbs: []string{one.verb}})
		if role, err = servers.api.RbacV1().Roles(ns).Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		wait(t, "the right to "+one.verb+" "+one.resource, func() bool {
			r := profile(anna, one.args...)
			return !strings.Contains(r.err, "you may not "+one.verb+" "+one.resource)
		})
	}
	nobody := servers.kubeconfig(t, "another-token", ns)
	if r := profile(nobody, "two"); r.code != 1 || !strings.Contains(r.err, "does not accept your credentials") {
		t.Errorf("%+v", r)
	}
}

// TestLost kills the command in the middle of a recording: the worker ends, the JVM is restored, nothing stays, and it can be recorded again.
func TestLost(t *testing.T) {
	k := startKubelet(t, "node-lost")
	ns := space(t, nil)
	config := servers.kubeconfig(t, adminToken, ns)
	k.pod(ns, "orders-1", java("app", imageJava))
	id := key(ns, "orders-1", "app")
	cmd, _, errs := kubeCommand(t, config, "profile", "orders-1", "--root", "Orders.order", "--scheme", "A")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	wait(t, "a recording", func() bool { return strings.Contains(errs.String(), "recording in 1 JVM") })
	if left := k.left(id); len(left) > 0 {
		t.Errorf("while it records: %v", left)
	}
	cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	wait(t, "the worker to end", func() bool { return len(k.workers()) == 0 })
	k.order(id, 10)
	got := k.record(t, config, id, 123, "orders-1")
	if orders, _ := got.calls("Orders.order"); orders != 123 {
		t.Errorf("%d orders", orders)
	}
	if left := k.left(id); len(left) > 0 {
		t.Errorf("%v have stayed", left)
	}
}

// TestPodEnds kills the program in the middle of a recording: what was heard before counts, and the pod is named.
func TestPodEnds(t *testing.T) {
	k := startKubelet(t, "node-ends")
	ns := space(t, nil)
	config := servers.kubeconfig(t, adminToken, ns)
	k.pod(ns, "orders-1", java("app", imageJava))
	id := key(ns, "orders-1", "app")
	cmd, out, errs := kubeCommand(t, config, "profile", "orders-1", "--root", "Orders.order", "--scheme", "A", "--format", "json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	wait(t, "a recording", func() bool { return strings.Contains(errs.String(), "recording in 1 JVM") })
	k.order(id, 55)
	time.Sleep(7 * time.Second) // what is kept is five seconds old at most
	k.of(id).kill()             // all processes of the namespace
	_ = cmd.Wait()
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("code %d, %v\n%s%s", cmd.ProcessState.ExitCode(), err, out, errs)
	}
	if orders, _ := got.calls("Orders.order"); orders != 55 || got.Processes[0].Error == "" {
		t.Errorf("%d orders, %+v", orders, got.Processes)
	}
}

// TestOthers has each other command answer from two pods.
func TestOthers(t *testing.T) {
	k := startKubelet(t, "node-others")
	ns := space(t, nil)
	config := servers.kubeconfig(t, adminToken, ns)
	for _, name := range []string{"orders-1", "orders-2"} {
		k.pod(ns, name, java("app", imageJava))
	}
	for _, one := range []struct {
		args []string
		says []string
	}{
		{[]string{"threads", "deploy/orders"}, []string{"orders-1/1, Orders", "orders-2/1, Orders", "main"}},
		{[]string{"locks", "deploy/orders"}, []string{"no deadlock in 2 JVMs"}},
		{[]string{"heap", "deploy/orders"}, []string{"in 2 JVMs", "java.lang.String", "orders-2/1"}},
		{[]string{"sample", "deploy/orders", "--wall", "--for", "2s"}, []string{"orders-1/1", "orders-2/1", "Orders.main"}},
		{[]string{"doctor", "deploy/orders", "--root", "Orders.order"}, []string{"orders-1/1  Orders", "a program can be executed in /tmp", "OK    root"}},
	} {
		r := kubeRun(t, config, one.args...)
		for _, text := range one.says {
			if !strings.Contains(r.out, text) {
				t.Errorf("%v does not say %q:\n%s", one.args, text, r.out)
			}
		}
		if r.code != 0 {
			t.Errorf("%v: code %d", one.args, r.code)
		}
	}
}
