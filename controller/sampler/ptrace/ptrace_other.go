//go:build !amd64

package ptrace

import (
	"errors"
	"time"
)

// ErrDenied reports that threads can't be stopped: on this machine they never can.
var ErrDenied = errors.New("ptrace works on x86-64 only")

// Registers are those that an unwinder of HotSpot's frames needs.
type Registers struct{ BX, BP, SP, IP, R13 uint64 }

// Stop returns [ErrDenied].
func Stop(int, interface {
	Read(p []byte, at uint64) error
}, []byte, uint64) (r Registers, stack []byte, still time.Duration, err error) {
	return r, nil, 0, ErrDenied
}
