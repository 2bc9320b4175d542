package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tcpListen is the state of a listening socket in /proc/PID/net/tcp.
const tcpListen = "0A"

// Listens tells whether the process listens on a TCP port: others may wait for its
// answers. It reports false where that can't be seen.
func (p Process) Listens() bool {
	listening := map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", p.PID, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == tcpListen {
				listening["socket:["+f[9]+"]"] = true
			}
		}
	}
	if len(listening) == 0 {
		return false
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.PID))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && listening[to] {
			return true
		}
	}
	return false
}
