package attach_test

import (
	"net"
	"os"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// TestListens looks at this process before, while and after it listens on a port.
func TestListens(t *testing.T) {
	p := attach.Process{PID: os.Getpid()}
	if p.Listens() {
		t.Skip("this process listens on a port already")
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !p.Listens() {
		t.Error("it listens, and that is not seen")
	}
	l.Close()
	if p.Listens() {
		t.Error("a connection is taken for a listening socket")
	}
}
