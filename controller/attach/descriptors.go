package attach

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareDescriptors are enough for a request and for an agent's start, a handful each, and some for the program meanwhile.
const spareDescriptors = 16

// checkDescriptors returns an [*Error] of kind [ErrNoDescriptors] if the process is about to run out of descriptors. JDK 8's
// attach listener ends for good when it can't accept a connection; later ones begin again at the next request. Where the
// limit can't be seen, nil: the request itself tells.
func (p Process) checkDescriptors() error {
	var limit unix.Rlimit
	if err := unix.Prlimit(p.PID, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		return nil
	}
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", p.PID))
	if err != nil {
		return nil
	}
	defer dir.Close()
	used, err := dir.Readdirnames(-1)
	if err != nil || uint64(len(used))+spareDescriptors <= limit.Cur {
		return nil
	}
	return &Error{
		PID: p.PID, Kind: ErrNoDescriptors, Cause: fmt.Sprintf("%d of the %d descriptors that the process may have are in use: it could not accept the connection", len(used), limit.Cur),
		Fix: fmt.Sprintf("find out what it keeps open (ls -l /proc/%d/fd), or raise the limit (prlimit --pid %d --nofile=65536)", p.PID, p.PID),
	}
}
