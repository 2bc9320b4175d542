// Package kube runs rivulet kube against a real API server (kube-apiserver and etcd, built from their Go modules) and a small
// kubelet, whose containers are processes in namespaces that run real JVMs. It is a module of its own, so that what an API server
// stands on is nothing to Rivulet.
package kube

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// space makes a namespace and a deployment whose pods are the test's to make: there is no controller.
func space(t *testing.T, labels map[string]string) (namespace string) {
	t.Helper()
	namespace = "t-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}}
	if _, err := servers.api.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "orders"}}
	d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "orders"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: imageJava}}}}
	if _, err := servers.api.AppsV1().Deployments(namespace).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return namespace
}

// java is a container with the program.
func java(name, image string) corev1.Container {
	return corev1.Container{Name: name, Image: image, Command: []string{jdk() + "/bin/java", "-Xmx64m", "-cp", classes, "Orders"}}
}

// jdk is where the java command is from.
func jdk() string {
	for _, dir := range []string{os.Getenv("JAVA_HOME"), "/usr/lib/jvm/java-17-openjdk-amd64"} {
		if _, err := os.Stat(dir + "/bin/java"); dir != "" && err == nil {
			return dir
		}
	}
	panic("no JDK: set JAVA_HOME to one below /usr")
}

// pod makes a pod and waits until its programs are ready.
func (k *kubelet) pod(namespace, name string, containers ...corev1.Container) {
	k.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "orders"}}}
	p.Spec = corev1.PodSpec{NodeName: k.node, Containers: containers}
	if _, err := servers.api.CoreV1().Pods(namespace).Create(k.t.Context(), p, metav1.CreateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	for _, c := range containers {
		if strings.Contains(strings.Join(c.Command, " "), "Orders") {
			k.await(key(namespace, name, c.Name), "READY")
		}
	}
	k.t.Cleanup(func() {
		no := int64(0)
		_ = servers.api.CoreV1().Pods(namespace).Delete(k.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &no})
	})
	wait(k.t, "pod "+name+" to be ready", func() bool {
		p, err := servers.api.CoreV1().Pods(namespace).Get(k.t.Context(), name, metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodRunning
	})
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > startLong {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

func (k *kubelet) of(id string) *container {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.containers[id]
}

// await waits for a line of a container's output.
func (k *kubelet) await(id, text string) {
	k.t.Helper()
	wait(k.t, id+" to say "+text, func() bool {
		c := k.of(id)
		if c != nil && c.failed != "" {
			k.t.Fatalf("%s: %s", id, c.failed)
		}
		return c != nil && strings.Contains(c.out.String(), text)
	})
}

// file is a file of a container.
func (k *kubelet) file(id, name string) string {
	return fmt.Sprintf("/proc/%d/root%s", k.of(id).init, name)
}

// order has a container's program handle n orders.
func (k *kubelet) order(id string, n int) {
	k.t.Helper()
	name := k.file(id, "/tmp/go")
	if err := os.WriteFile(name+"-", fmt.Append(nil, n), 0o644); err != nil {
		k.t.Fatal(err)
	}
	if user := k.of(id).user; user != nil { // who may delete it
		if err := os.Chown(name+"-", int(*user), int(*user)); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := os.Rename(name+"-", name); err != nil {
		k.t.Fatal(err)
	}
	k.await(id, fmt.Sprintf("DONE %d\n", n))
}

// left are files of Rivulet that have stayed in a container's /tmp.
func (k *kubelet) left(id string) (out []string) {
	list, _ := os.ReadDir(k.file(id, "/tmp"))
	for _, e := range list {
		if strings.Contains(e.Name(), "rivulet") {
			out = append(out, e.Name())
		}
	}
	return out
}

// report is what is read of a merged one.
type report struct {
	Calls     int64
	Exact     bool
	Processes []struct {
		Host, Main, Error string
		PID               int
		Calls             int64
	}
	Flat []struct {
		Method    string
		Calls     int64
		Processes struct{ Calls []int64 }
	}
}

func (r *report) calls(method string) (total int64, each []int64) {
	for _, m := range r.Flat {
		if strings.HasPrefix(m.Method, method) {
			return m.Calls, m.Processes.Calls
		}
	}
	return 0, nil
}

// TestProfile records three pods at once: the merged counts, and each pod's, are the programs' own, and nothing stays.
func TestProfile(t *testing.T) {
	k := startKubelet(t, "node-profile")
	ns := space(t, nil)
	config := servers.kubeconfig(t, adminToken, ns)
	counts := []int{1000, 2500, 40}
	var ids []string
	for i := range counts {
		name := fmt.Sprintf("orders-%d", i)
		k.pod(ns, name, java("app", imageJava), corev1.Container{Name: "sidecar", Image: imageJava, Command: []string{"sleep", "600"}})
		ids = append(ids, key(ns, name, "app"))
	}
	r := kubeRun(t, config, "ps", "deploy/orders")
	for i := range counts {
		if !strings.Contains(r.out, fmt.Sprintf("orders-%d  app        yes    1    0    Orders", i)) {
			t.Errorf("pod %d is missing:\n%s", i, r.out)
		}
	}
	cmd, out, errs := kubeCommand(t, config, "profile", "deploy/orders", "--root", "Orders.order", "--scheme", "A", "--format", "json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	t.Cleanup(func() { t.Logf("%s", errs) })
	wait(t, "three recordings", func() bool { return strings.Contains(errs.String(), "recording in 3 JVMs") })
	for i, n := range counts {
		k.order(ids[i], n)
	}
	cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("code %d\n%s", code, errs)
	}
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	if !got.Exact || len(got.Processes) != 3 {
		t.Fatalf("exact %v, %+v", got.Exact, got.Processes)
	}
	orders, eachOrder := got.calls("Orders.order")
	items, eachItem := got.calls("Orders.item")
	if orders != 3540 || items != 7080 {
		t.Errorf("%d orders with %d items", orders, items)
	}
	for i, p := range got.Processes {
		if p.Host != fmt.Sprintf("orders-%d", i) || p.Main != "Orders" || eachOrder[i] != int64(counts[i]) || eachItem[i] != int64(2*counts[i]) {
			t.Errorf("%+v: %d orders with %d items", p, eachOrder[i], eachItem[i])
		}
	}
	for _, id := range ids {
		if left := k.left(id); len(left) > 0 {
			t.Errorf("%s: %v have stayed", id, left)
		}
	}
}
