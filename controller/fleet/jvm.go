package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A JVM is one that a node has found.
type JVM struct {
	PID        int       `json:"pid"`
	Start      uint64    `json:"start"`
	Main       string    `json:"main"`
	Args       string    `json:"args,omitempty"`
	Java       string    `json:"java"`
	VM         string    `json:"vm"`
	User       string    `json:"user"`
	App        string    `json:"app"`                 // what it calls itself, else its service, else its program
	Hostname   string    `json:"hostname,omitempty"`  // as it sees it; in Kubernetes the pod's name
	Container  string    `json:"container,omitempty"` // id
	PodUID     string    `json:"pod_uid,omitempty"`
	Service    string    `json:"service,omitempty"` // of systemd
	Started    time.Time `json:"started"`
	Attachable bool      `json:"attachable"`
	Reason     string    `json:"reason,omitempty"`  // why not
	Watched    bool      `json:"watched,omitempty"` // its node keeps samples of it all the time

	Labels map[string]string `json:"labels,omitempty"` // of the node, and what the process says of itself
}

// A Node is what a node says of itself.
type Node struct {
	Schema   int    `json:"schema"`
	Name     string `json:"name"`
	Instance string `json:"instance"` // another one after each start
	Version  string `json:"version"`
	Host     string `json:"host"`
	Kernel   string `json:"kernel,omitempty"`
	Cores    int    `json:"cores"`
	Running  int    `json:"running"` // commands that it is carrying out
	Waiting  int    `json:"waiting"` // results that are not sent yet
	Room     int64  `json:"room"`    // bytes that are left for results

	Lacks []string `json:"lacks,omitempty"` // permissions that it has not, and what for
	JVMs  []JVM    `json:"jvms"`

	Seen time.Time `json:"seen,omitzero"` // when it said so last; zero if it answers now
}

// Name is what people call the JVM's host by: its pod, else the node.
func (j *JVM) Name(node string) string {
	if j.PodUID != "" && j.Hostname != "" {
		return j.Hostname
	}
	return node
}

// fields are what --select looks at, beside labels.
var fields = map[string]func(node string, j *JVM) string{
	"node":      func(node string, _ *JVM) string { return node },
	"app":       func(_ string, j *JVM) string { return j.App },
	"main":      func(_ string, j *JVM) string { return j.Main },
	"args":      func(_ string, j *JVM) string { return j.Args },
	"user":      func(_ string, j *JVM) string { return j.User },
	"java":      func(_ string, j *JVM) string { return j.Java },
	"host":      func(node string, j *JVM) string { return j.Name(node) },
	"container": func(_ string, j *JVM) string { return j.Container },
	"service":   func(_ string, j *JVM) string { return j.Service },
	"pid":       func(_ string, j *JVM) string { return strconv.Itoa(j.PID) },
}

// A Selection says which JVMs are meant; the zero value means all.
type Selection struct{ rules []rule }

type rule struct {
	key     string
	not     bool
	pattern string
}

// ParseSelection reads rules such as app=orders, main=*Order*, node!=web-3. A comma
// separates rules; all must be true. A key that is none of the known ones is a label. The
// error names the rule that makes no sense.
func ParseSelection(texts []string) (Selection, error) {
	var s Selection
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			key, pattern, ok := strings.Cut(one, "=")
			key, not := strings.CutSuffix(strings.TrimSpace(key), "!")
			if !ok || key == "" || pattern == "" {
				return s, fmt.Errorf("%q: give KEY=PATTERN or KEY!=PATTERN, where KEY is %s, or a label", one, strings.Join(Keys(), ", "))
			}
			s.rules = append(s.rules, rule{key, not, pattern})
		}
	}
	return s, nil
}

// Keys are the known keys of selections, in order.
func Keys() []string {
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Value is what a JVM of a node has of a key of selections, see [Keys], or the label of that name; "" if it has none.
func (j *JVM) Value(key, node string) string {
	if of := fields[key]; of != nil {
		return of(node, j)
	}
	return j.Labels[key]
}

// Has tells whether a JVM of a node is meant.
func (s Selection) Has(node string, j *JVM) bool {
	for _, r := range s.rules {
		if like(r.pattern, j.Value(r.key, node)) == r.not {
			return false
		}
	}
	return true
}

// like matches a whole text with a pattern, in which * stands for anything and ? for one
// character.
func like(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j, star, from := 0, 0, -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from, i = i, j, i+1
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
