package attach

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// impostor is a VM whose process is this test and whose socket is at our command.
func impostor(t *testing.T) (*VM, string) {
	t.Helper()
	st, err := readStatus(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	socket := "/tmp/" + socketName(st.nspid)
	os.Remove(socket)
	t.Cleanup(func() { os.Remove(socket) })
	return &VM{proc: Process{PID: st.pid, NSPID: st.nspid, UID: st.uid, GID: st.gid, JavaVersion: "25", start: st.start}}, socket
}

// TestBadListeners: none of them may keep us longer than the deadline.
func TestBadListeners(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		want  error
	}{
		{"silent", func(c net.Conn) { io.Copy(io.Discard, c) }, ErrNoAnswer},
		{"hangs up", func(c net.Conn) { c.Close() }, ErrNoAnswer},
		{"reads and hangs up", func(c net.Conn) { c.Read(make([]byte, 100)); c.Close() }, ErrNoAnswer},
		{"half an answer", func(c net.Conn) { io.WriteString(c, "0\nhalf"); io.Copy(io.Discard, c) }, ErrNoAnswer},
		{"garbage", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 400\r\n")
			c.(*net.UnixConn).CloseWrite()
			io.Copy(io.Discard, c)
		}, ErrNoAnswer},
		{"endless", func(c net.Conn) {
			for b := make([]byte, 1<<20); ; {
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}, ErrNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			vm, socket := impostor(t)
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go c.serve(conn)
				}
			}()
			begin := time.Now()
			r, err := vm.Execute(deadline(t, 400*time.Millisecond), "properties")
			wantErr(t, err, c.want, os.Getpid())
			if d := time.Since(begin); d > jvmtest.Patience || r != (Reply{}) {
				t.Errorf("took %v, reply %.40v", d, r)
			}
		})
	}
}

// TestFullBacklog: a listener that accepts nobody.
func TestFullBacklog(t *testing.T) {
	vm, socket := impostor(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	first, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = vm.Execute(deadline(t, 300*time.Millisecond), "properties")
	wantErr(t, err, ErrNoAnswer, os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err = vm.Execute(ctx, "properties"); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("cancelled: %v", err)
	}
}

// TestForeignListener: containers that share /tmp share names.
func TestForeignListener(t *testing.T) {
	vm, socket := impostor(t)
	other := launch(t, role("listen", socket))
	other.WaitLine("up")
	_, err := vm.Execute(t.Context(), "properties")
	wantErr(t, err, ErrNoSocket, os.Getpid())
}

// TestLookalikes: libraries mapped into a Go process, which dies of SIGQUIT.
func TestLookalikes(t *testing.T) {
	dir := t.TempDir()
	lib := func(name string) string {
		file := filepath.Join(dir, name)
		os.WriteFile(file, make([]byte, 4096), 0o644)
		return file
	}
	for _, c := range []struct {
		files []string
		want  error
	}{
		{[]string{lib("libjvm.so"), lib("libj9vm29.so")}, ErrOpenJ9},
		{[]string{lib("libjvm.so")}, ErrNoSocket}, // embedded, options unknown
		{[]string{lib("libjvmti.so")}, ErrNotJVM},
	} {
		tg := launch(t, role("map", strings.Join(c.files, ":")))
		tg.WaitLine("up")
		_, err := Open(deadline(t, 5*time.Second), tg.pid)
		wantErr(t, err, c.want, tg.pid)
		tg.unharmed()
	}
}
