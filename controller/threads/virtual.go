package threads

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A jsonDump is what jcmd Thread.dump_to_file -format=json writes: JDK 21 names and stacks,
// JDK 25 states and locks, too.
type jsonDump struct {
	Dump struct {
		Containers []struct {
			Threads []jsonThread `json:"threads"`
		} `json:"threadContainers"`
	} `json:"threadDump"`
}

type jsonThread struct {
	ID      string   `json:"tid"`
	Name    string   `json:"name"`
	Virtual bool     `json:"virtual"`
	State   string   `json:"state"`
	Stack   []string `json:"stack"`
	Blocked string   `json:"blockedOn"`
	Waiting string   `json:"waitingOn"`
	Parked  struct {
		Object string `json:"object"`
		Owner  string `json:"owner"`
	} `json:"parkBlocker"`
	Owned []struct {
		Locks []string `json:"locks"`
	} `json:"monitorsOwned"`
}

// ParseJSON reads the other form of a thread dump, which has virtual threads (JDK 21 and
// later), and from JDK 25 on what they hold and wait for. Its threads don't stand still
// together: what it says of two of them may not fit together. So a deadlock is one only if
// a second dump has it, too: see [Confirmed]. The error says that the text is no such dump.
func ParseJSON(text []byte) ([]Thread, error) {
	var d jsonDump
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("thread dump: %w", err)
	}
	var out []Thread
	for _, c := range d.Dump.Containers {
		for _, j := range c.Threads {
			out = append(out, j.thread())
		}
	}
	return out, nil
}

func (j *jsonThread) thread() Thread {
	t := Thread{Name: j.Name, State: j.State, CPU: -1, Holds: []Lock{}, Stack: []string{}}
	t.ID, _ = strconv.ParseInt(j.ID, 10, 64)
	for _, f := range j.Stack {
		t.Stack = append(t.Stack, cutModules(f))
	}
	t.Virtual = j.Virtual
	if n := len(t.Stack); n > 0 && strings.HasPrefix(t.Stack[n-1], "java.lang.VirtualThread.") {
		t.Virtual = true // JDK 21 to 24 don't say
	}
	if t.Name == "" {
		t.Name = "#" + j.ID
	}
	lock := func(w Wait, text string) {
		if text != "" {
			l := namedLock(text)
			t.Wait, t.WaitFor = w, &l
		}
	}
	lock(Park, j.Parked.Object)
	lock(Notify, j.Waiting)
	lock(Enter, j.Blocked)
	if t.Wait == Park {
		t.owner, _ = strconv.ParseInt(j.Parked.Owner, 10, 64)
	}
	for _, o := range j.Owned {
		for _, l := range o.Locks {
			// A monitor that was given up in Object.wait counts as owned there.
			if l := namedLock(l); t.WaitFor == nil || *t.WaitFor != l {
				t.Holds = append(t.Holds, l)
			}
		}
	}
	return t
}

// namedLock reads "java.lang.Object@58684881": a class and an identity hash code, which is
// no address and may, rarely, be another object's, too.
func namedLock(text string) Lock {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return Lock{Address: text[i:], Class: text[:i]}
	}
	return Lock{Address: text}
}

// cutModules leaves loader and module out: "java.base/java.lang.Thread.run(Thread.java:1)",
// "app//p.A.m(A.java:1)".
func cutModules(frame string) string {
	head, place, ok := strings.Cut(frame, "(")
	i := strings.LastIndexByte(head, '/')
	for i > 0 && strings.HasPrefix(head[i+1:], "0x") { // a hidden class: p.A$$Lambda/0x00007f.m
		i = strings.LastIndexByte(head[:i], '/')
	}
	if i >= 0 && !strings.HasPrefix(head[i+1:], "0x") {
		head = head[i+1:]
	}
	if !ok {
		return head
	}
	return head + "(" + place
}

// Confirmed are those deadlocks of one dump that another, later one has with the same
// threads.
func Confirmed(first, second []Deadlock) []Deadlock {
	in := map[string]bool{}
	for _, d := range second {
		for _, t := range d.Threads {
			in[t.Thread+"\x00"+t.WaitsFor] = true
		}
	}
	out := []Deadlock{}
	for _, d := range first {
		all := true
		for _, t := range d.Threads {
			all = all && in[t.Thread+"\x00"+t.WaitsFor]
		}
		if all {
			out = append(out, d)
		}
	}
	return out
}
