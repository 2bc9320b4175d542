package attach

import (
	"os"
	"strings"
)

// HasThread reports whether the process has a thread of that name. Linux keeps
// 15 bytes of a name, and HotSpot has passed on those of Java threads since JDK
// 8; virtual threads have none. This way one version of Rivulet sees the agent
// of another without asking the target.
func HasThread(pid int, name string) (bool, error) {
	tasks, err := os.ReadDir(procFile(pid, "task"))
	if err != nil {
		return false, goneOr(pid, err)
	}
	const kept = 15
	name = name[:min(len(name), kept)]
	for _, task := range tasks {
		comm, err := os.ReadFile(procFile(pid, "task/"+task.Name()+"/comm"))
		if err == nil && strings.TrimSuffix(string(comm), "\n") == name {
			return true, nil
		}
	}
	return false, nil
}
