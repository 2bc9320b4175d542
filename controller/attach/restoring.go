package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// RestoringThread begins the name of the agent's thread while it restores classes by itself, without a
// controller; behind it is how far it is, in percent.
const RestoringThread = "rivulet-out"

// Restoring tells whether Rivulet's agent is restoring classes in a process by itself, and which share of
// them it has done, 0 to 1.
func Restoring(pid int) (share float64, is bool) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(string(b)), RestoringThread); ok {
			percent, _ := strconv.Atoi(strings.TrimSuffix(rest, "%"))
			return float64(percent) / 100, true
		}
	}
	return 0, false
}
