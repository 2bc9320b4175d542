package kube

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// local is a cluster whose containers are this machine: commands run here.
type local struct {
	Cluster
	path string // PATH of commands; "" is this process's
	own  func(ctx context.Context, s Streams, command []string) (bool, error)
}

func (l *local) Exec(ctx context.Context, _ Place, s Streams, command ...string) error {
	if l.own != nil {
		if done, err := l.own(ctx, s, command); done {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	if l.path != "" {
		cmd.Env = []string{"PATH=" + l.path}
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &ExitError{exit.ExitCode()}
	}
	return err
}

var here = Place{"shop", "orders-1", "app"}

// binaryOf writes an ELF file of a machine, which is static as it has no segments.
func binaryOf(t *testing.T, machine uint16, size int) string {
	t.Helper()
	b := make([]byte, max(size, 64))
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(b[16:], 2)
	binary.LittleEndian.PutUint16(b[18:], machine)
	binary.LittleEndian.PutUint32(b[20:], 1)
	binary.LittleEndian.PutUint16(b[52:], 64)
	for i := 64; i < len(b); i++ {
		b[i] = byte(i * 7)
	}
	name := filepath.Join(t.TempDir(), "rivulet")
	if err := os.WriteFile(name, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func checkOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Check
	}
	return ""
}
