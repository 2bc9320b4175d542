package session

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// An agentCode is an agent in Java that the JVM was started with. Its classes are in its
// jar, or in loaders of its own.
type agentCode struct {
	jar    string // name of the file
	prefix string // of its classes' names, "io/opentelemetry/javaagent/"
}

// mostManifest bounds the manifest of an agent's jar, in bytes.
const mostManifest = 1 << 20

// jacocoInit is a method that JaCoCo puts into every class.
const jacocoInit = "$jacocoInit"

// ownAgents are the classes of Rivulet's own agents: in programs that it launches, and that of
// rivulet prepare. They change no class.
var ownAgents = []string{"rivulet.boot.Boot1", "rivulet.prepared.Prepared"}

// isOwnAgent tells whether an option is about an agent of Rivulet's. One whose jar can't be read
// is not.
func isOwnAgent(pid int, option string) bool {
	file, ok := strings.CutPrefix(option, "-javaagent:")
	if !ok {
		return false
	}
	file, _, _ = strings.Cut(file, "=")
	class, err := premainOf(pid, file)
	return err == nil && slices.Contains(ownAgents, class)
}

// agentsOf finds the agents of others among a JVM's options. One whose jar can't be read is left out.
func agentsOf(p attach.Process) (out []agentCode) {
	for _, o := range p.Options {
		file, ok := strings.CutPrefix(o, "-javaagent:")
		if !ok {
			continue
		}
		file, _, _ = strings.Cut(file, "=")
		class, err := premainOf(p.PID, file)
		if prefix := agentPrefix(class); err == nil && prefix != "" && !slices.Contains(ownAgents, class) {
			out = append(out, agentCode{path.Base(file), prefix})
		}
	}
	return out
}

// premainOf reads the name of an agent's class from its jar.
func premainOf(pid int, file string) (string, error) {
	f, err := attach.OpenFile(pid, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	z, err := zip.NewReader(f, st.Size())
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	m, err := z.Open("META-INF/MANIFEST.MF")
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	defer m.Close()
	for lines := bufio.NewScanner(io.LimitReader(m, mostManifest)); lines.Scan(); {
		if class, ok := strings.CutPrefix(lines.Text(), "Premain-Class:"); ok {
			return strings.TrimSpace(class), nil
		}
	}
	return "", fmt.Errorf("%s: no Premain-Class in its manifest", file)
}

// agentPrefix is what the names of an agent's classes begin with, by that of its
// Premain-Class: its package, without an "internal" at the end. A class without a
// package, or of a top-level one, says nothing.
func agentPrefix(class string) string {
	parts := strings.Split(class, ".")
	parts = parts[:len(parts)-1]
	if n := len(parts); n > 0 && strings.HasPrefix(parts[n-1], "internal") {
		parts = parts[:n-1]
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, "/") + "/"
}

// agents are those whose code is to have no probes.
type agents struct {
	list    []agentCode
	loaders map[uint32]string // names of class loaders by number
}

// has tells whether a class is the code of an agent: by its name, or that of the
// class of its loader.
func (g agents) has(id cha.ClassID) bool {
	for _, a := range g.list {
		if strings.HasPrefix(id.Name, a.prefix) || strings.HasPrefix(strings.ReplaceAll(g.loaders[id.Loader], ".", "/"), a.prefix) {
			return true
		}
	}
	return false
}

// agentReason is why what an agent has, or puts into classes, has no probes.
const agentReason = "code of an agent that the JVM was started with; --agents lets it in"

// hides tells whether a method has no probes since it is an agent's, or an agent has put it into a class.
func (g agents) hides(k scheme.Skip) bool {
	return k.Reason == scheme.Filtered && g.puts(k.Method.Class, k.Method.Name)
}

// puts tells whether a method is an agent's, or one that an agent puts into classes.
func (g agents) puts(class cha.ClassID, name string) bool {
	return len(g.list) > 0 && (name == jacocoInit || g.has(class))
}

// reason is what a report says of a method without probes.
func (g agents) reason(k scheme.Skip) string {
	if g.hides(k) {
		return agentReason
	}
	return string(k.Reason)
}

// leftOut says in a report which agents' code has no probes; "" where that is none.
func (g agents) leftOut() string {
	if len(g.list) == 0 {
		return ""
	}
	var jars []string
	for _, a := range g.list {
		jars = append(jars, a.jar)
	}
	return fmt.Sprintf("The code of agents that the JVM was started with has no probes (%s); --agents lets it in.", strings.Join(jars, ", "))
}
