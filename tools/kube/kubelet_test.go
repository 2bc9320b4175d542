package kube

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	streaming "k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// A kubelet carries out pods of its node: each container is a process in namespaces for processes and mounts, with a root of its own.
// Images are names of what a root lacks.
type kubelet struct {
	t    *testing.T
	node string
	dir  string

	mu         sync.Mutex
	containers map[string]*container // by pod and name
	execs      []*exec.Cmd
}

// Images that the kubelet knows.
const (
	imageJava    = "test/java"    // a shell and a JDK
	imageBare    = "test/bare"    // a JDK, no shell
	imageRivulet = "test/rivulet" // the binary under test alone
	imageMissing = "test/missing"
)

// startKubelet adds a node to the cluster and carries out its pods until the test ends.
func startKubelet(t *testing.T, name string) *kubelet {
	t.Helper()
	k := &kubelet{t: t, node: name, dir: t.TempDir(), containers: map[string]*container{}}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: k}
	go server.Serve(listener)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if n, err = servers.api.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(listener.Addr().(*net.TCPAddr).Port)
	if _, err = servers.api.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := k.sync(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		server.Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, c := range k.containers {
			c.kill()
		}
		_ = servers.api.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	return k
}

func certificate(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// sync starts what is to run, and tells the API server how it is.
func (k *kubelet) sync(ctx context.Context) error {
	list, err := servers.api.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + k.node})
	if err != nil {
		return err
	}
	for i := range list.Items {
		p := &list.Items[i]
		if p.DeletionTimestamp != nil {
			continue
		}
		status := p.Status.DeepCopy()
		status.ContainerStatuses, status.EphemeralContainerStatuses = nil, nil
		ready := true
		for j := range p.Spec.Containers {
			s := k.status(p, &p.Spec.Containers[j], "")
			ready = ready && s.State.Running != nil
			status.ContainerStatuses = append(status.ContainerStatuses, s)
		}
		for j := range p.Spec.EphemeralContainers {
			e := &p.Spec.EphemeralContainers[j]
			c := corev1.Container(e.EphemeralContainerCommon)
			status.EphemeralContainerStatuses = append(status.EphemeralContainerStatuses, k.status(p, &c, e.TargetContainerName))
		}
		status.Phase = corev1.PodRunning
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[ready]}}
		before, after := fmt.Sprint(p.Status), fmt.Sprint(*status)
		if before == after {
			continue
		}
		p.Status = *status
		if _, err := servers.api.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{}); err != nil && !strings.Contains(err.Error(), "modified") && !strings.Contains(err.Error(), "not found") {
			return err
		}
	}
	return nil
}

func (k *kubelet) status(p *corev1.Pod, spec *corev1.Container, target string) corev1.ContainerStatus {
	c := k.container(p, spec, target)
	s := corev1.ContainerStatus{Name: spec.Name, Image: spec.Image}
	select {
	case <-c.ended:
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(c.code), Reason: "Completed"}
	default:
		if c.failed != "" {
			reason, message, _ := strings.Cut(c.failed, ": ")
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
		} else {
			s.State.Running, s.Ready = &corev1.ContainerStateRunning{StartedAt: p.CreationTimestamp}, true
		}
	}
	return s
}

func key(namespace, pod, name string) string { return namespace + "/" + pod + "/" + name }

// container is one of a pod, started if it is new.
func (k *kubelet) container(p *corev1.Pod, spec *corev1.Container, target string) *container {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := key(p.Namespace, p.Name, spec.Name)
	c := k.containers[id]
	if c == nil {
		c = &container{out: &output{}, ended: make(chan struct{})}
		k.containers[id] = c
		if spec.Image == imageMissing {
			c.failed = "ImagePullBackOff: Back-off pulling image " + spec.Image
		} else if err := k.start(p, spec, k.containers[key(p.Namespace, p.Name, target)], c); err != nil {
			c.failed = "CreateContainerError: " + err.Error()
		}
	}
	return c
}

// ServeHTTP serves /exec/NAMESPACE/POD/CONTAINER, as the API server asks for it.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "exec" {
		http.NotFound(w, r)
		return
	}
	o, err := streaming.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	streaming.ServeExec(w, r, k, key(parts[1], parts[2], parts[3]), "", parts[3], r.URL.Query()["command"], o, time.Hour, time.Minute, remotecommand.SupportedStreamingProtocols)
}

// ExecInContainer implements the executor of the streaming library.
func (k *kubelet) ExecInContainer(ctx context.Context, id, _, _ string, argv []string, in io.Reader, out, errs io.WriteCloser, _ bool, _ <-chan streaming.TerminalSize, _ time.Duration) error {
	k.mu.Lock()
	c := k.containers[id]
	k.mu.Unlock()
	if c == nil || c.init == 0 {
		return fmt.Errorf("container not found (%q)", id)
	}
	if !strings.Contains(argv[0], "/") {
		found := ""
		for _, dir := range []string{"/usr/bin", "/bin"} {
			if _, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", c.init), dir, argv[0])); err == nil && found == "" {
				found = filepath.Join(dir, argv[0])
			}
		}
		if found == "" {
			return fmt.Errorf(`failed to exec in container: OCI runtime exec failed: exec failed: unable to start container process: exec: %q: executable file not found in $PATH`, argv[0])
		}
	}
	args := []string{"--target", fmt.Sprint(c.init), "--mount", "--pid", "--root", "--wd"}
	if c.user != nil {
		args = append(args, "--setuid", fmt.Sprint(*c.user), "--setgid", fmt.Sprint(*c.user))
	}
	cmd := exec.Command("nsenter", append(append(args, "--"), argv...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stdout, cmd.Stderr = out, errs
	// As container runtimes do: the command goes on when nobody listens any more, and its input ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	k.mu.Lock()
	k.execs = append(k.execs, cmd)
	k.mu.Unlock()
	if in == nil {
		stdin.Close()
	} else {
		go func() {
			io.Copy(stdin, in)
			stdin.Close()
		}()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code := exit.ExitCode()
		if code < 0 {
			code = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
		}
		return utilexec.CodeExitError{Err: err, Code: code}
	}
	return err
}

// workers are commands of execs that still run.
func (k *kubelet) workers() (out []*exec.Cmd) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.execs {
		if syscall.Kill(c.Process.Pid, 0) == nil {
			out = append(out, c)
		}
	}
	return out
}
