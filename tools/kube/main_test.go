package kube

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A control is an API server and its etcd.
type control struct {
	config *rest.Config // of an administrator
	api    *kubernetes.Clientset
	dir    string
	url    string
}

// Tokens of people.
const (
	adminToken = "admin-token"
	annaToken  = "anna-token" // has no rights unless a test gives her some
)

var (
	rivulet string // the binary under test
	servers *control
)

func TestMain(m *testing.M) {
	if os.Getenv(initVariable) != "" {
		fmt.Fprintln(os.Stderr, enterRoot(os.Args[1:]))
		os.Exit(127)
	}
	dir, err := os.MkdirTemp("", "rivulet-kube-test-")
	if err == nil {
		err = compile()
	}
	if err == nil {
		var stop func()
		if servers, stop, err = start(dir); err == nil {
			code := m.Run()
			stop()
			os.RemoveAll(dir)
			os.Exit(code)
		}
	}
	os.RemoveAll(dir)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// classes is where the program's are: not in /tmp, of which each container has its own.
var classes string

// compile compiles the program that runs in the pods.
func compile() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	classes = filepath.Join(cache, "rivulet-kube-test")
	if err := os.MkdirAll(classes, 0o755); err != nil {
		return err
	}
	if text, err := exec.Command("javac", "-d", classes, "testdata/Orders.java").CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, text)
	}
	return nil
}

// startLong bounds what a program, or a command, may take to come so far.
const startLong = time.Minute

// build makes a program of a package of this module's requirements.
func build(dir, name, pkg, in string, env ...string) (string, error) {
	out := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = in
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

func start(dir string) (*control, func(), error) {
	var err error
	if rivulet, err = build(dir, "rivulet", ".", "../..", "CGO_ENABLED=0", "GOWORK="); err != nil {
		return nil, nil, err
	}
	etcd, err := build(dir, "etcd", "go.etcd.io/etcd/server/v3", ".")
	if err != nil {
		return nil, nil, err
	}
	api, err := build(dir, "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", ".")
	if err != nil {
		return nil, nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	keyFile := filepath.Join(dir, "service-accounts.key")
	tokens := filepath.Join(dir, "tokens.csv")
	for name, text := range map[string]string{
		keyFile: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		tokens:  adminToken + ",admin,1,system:masters\n" + annaToken + ",anna,2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	client, peer, secure := port(), port(), port()
	etcdURL := "http://127.0.0.1:" + client
	var stops []func()
	stop := func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
	}
	run := func(name string, args ...string) error {
		log, err := os.Create(filepath.Join(dir, filepath.Base(name)+".log"))
		if err != nil {
			return err
		}
		cmd := exec.Command(name, args...)
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			return err
		}
		stops = append(stops, func() {
			cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return nil
	}
	err = run(etcd, "--data-dir", filepath.Join(dir, "etcd-data"), "--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer, "--unsafe-no-fsync")
	if err == nil {
		err = run(api, "--etcd-servers", etcdURL, "--bind-address", "127.0.0.1", "--secure-port", secure, "--cert-dir", filepath.Join(dir, "certs"),
			"--service-account-key-file", keyFile, "--service-account-signing-key-file", keyFile, "--service-account-issuer", "https://127.0.0.1",
			"--token-auth-file", tokens, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount",
			"--kubelet-preferred-address-types", "InternalIP")
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	c := &control{dir: dir, url: "https://127.0.0.1:" + secure}
	c.config = &rest.Config{Host: c.url, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 200, Burst: 400}
	if c.api, err = kubernetes.NewForConfig(c.config); err == nil {
		err = c.ready()
	}
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "kube-apiserver.log"))
		stop()
		return nil, nil, fmt.Errorf("%w\n%s", err, text[max(0, len(text)-3000):])
	}
	return c, stop, nil
}

// ready waits for the API server.
func (c *control) ready() error {
	var err error
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(200 * time.Millisecond) {
		if _, err = c.api.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background()); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the API server is not ready after two minutes: %w", err)
}

func port() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	return p
}

// kubeconfig is a file for somebody.
func (c *control) kubeconfig(t *testing.T, token, namespace string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: me, user: {token: %q}}]
contexts: [{name: here, context: {cluster: here, user: me, namespace: %q}}]
`, c.url, token, namespace)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A ran is a command that has ended.
type ran struct {
	code     int
	out, err string
}

// kubeRun runs rivulet kube.
func kubeRun(t *testing.T, config string, args ...string) ran {
	t.Helper()
	cmd, out, errs := kubeCommand(t, config, args...)
	_ = cmd.Run()
	r := ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	t.Logf("rivulet kube %s: code %d\n%s", strings.Join(args, " "), r.code, r.err)
	return r
}

func kubeCommand(t *testing.T, config string, args ...string) (*exec.Cmd, *bytes.Buffer, *output) {
	t.Helper()
	cmd := exec.Command(rivulet, append([]string{"kube"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+config)
	out, errs := &bytes.Buffer{}, &output{}
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd, out, errs
}
