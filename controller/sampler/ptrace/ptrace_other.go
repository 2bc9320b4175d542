//go:build !amd64 && !arm64

package ptrace

// A Stopper can't stop threads of this machine.
type Stopper struct{}

// New makes one.
func New(int) *Stopper { return &Stopper{} }

// Stop returns [ErrDenied].
func (*Stopper) Stop(int, uint64) (Stop, error) { return Stop{}, ErrDenied }

// Close does nothing.
func (*Stopper) Close() {}
