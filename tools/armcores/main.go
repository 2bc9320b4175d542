// Command armcores records cores of an arm64 JVM that runs under qemu's user-mode emulation, for the tests
// of the unwinder: registers come from the debugger's stub (qemu-aarch64 -g PORT), memory from
// the emulator's own, where the JVM's addresses are its own.
//
//	qemu-aarch64 -g 1234 -L /usr/aarch64-linux-gnu java -cp . A &
//	go run ./tools/armcores -port 1234 -for 30s -out testdata/cores/arm64-jdk25 PID
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A stub is the debugger's side of gdb's remote protocol.
type stub struct {
	c net.Conn
	r *bufio.Reader
}

func (s *stub) send(text string) error {
	sum := byte(0)
	for i := range len(text) {
		sum += text[i]
	}
	_, err := fmt.Fprintf(s.c, "$%s#%02x", text, sum)
	return err
}

func (s *stub) receive() (string, error) {
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return "", err
		}
		if b != '$' {
			continue // an acknowledgement
		}
		text, err := s.r.ReadString('#')
		if err != nil {
			return "", err
		}
		if _, err := s.r.Discard(2); err != nil {
			return "", err
		}
		_, err = s.c.Write([]byte("+"))
		return strings.TrimSuffix(text, "#"), err
	}
}

func (s *stub) ask(text string) (string, error) {
	if err := s.send(text); err != nil {
		return "", err
	}
	return s.receive()
}

// usr1 is what gdb calls SIGUSR1.
const usr1 = "1e"

// run lets the program run for a while, until a thread of it stops for a signal that it never sees. Other signals,
// of which HotSpot uses some, are its own. It is false if the thread has ended.
func (s *stub) run(pid, tid int, d time.Duration) (bool, error) {
	if err := s.send("c"); err != nil {
		return false, err
	}
	told := tid == 0
	_ = s.c.SetReadDeadline(time.Now().Add(d))
	defer s.c.SetReadDeadline(time.Time{}) //nolint:errcheck // it works on a connection
	for {
		t, err := s.receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !told:
			told = true
			if unix.Tgkill(pid, tid, unix.SIGUSR1) != nil {
				return false, nil
			}
			_ = s.c.SetReadDeadline(time.Now().Add(20 * time.Second))
		case err != nil:
			return false, err
		case len(t) < 3 || t[0] != 'T' && t[0] != 'S':
			return false, fmt.Errorf("it has ended: %q", t)
		case t[1:3] == usr1:
			return true, nil
		default:
			if err := s.send("C" + t[1:3]); err != nil {
				return false, err
			}
		}
	}
}

// registers are those of a thread: x0 to x30, sp and pc.
func (s *stub) registers(thread string) (x [33]uint64, err error) {
	if _, err = s.ask("Hg" + thread); err != nil {
		return x, err
	}
	t, err := s.ask("g")
	if err != nil {
		return x, err
	}
	b, err := hex.DecodeString(t[:min(len(t), 33*16)])
	if err != nil || len(b) < 33*8 {
		return x, fmt.Errorf("registers: %q: %w", t, err)
	}
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return x, nil
}

func main() {
	port := flag.Int("port", 1234, "the stub's")
	long := flag.Duration("for", 20*time.Second, "how long")
	begins := flag.Duration("begins", 8*time.Second, "until the program runs")
	thread := flag.String("thread", "worker", "whose stacks")
	out := flag.String("out", "", "beginning of the files' names; none: only counts")
	flag.Parse()
	pid, err := strconv.Atoi(flag.Arg(0))
	if err != nil {
		log.Fatal("name a process: ", err)
	}
	c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(*port))
	if err != nil {
		log.Fatal(err)
	}
	s := &stub{c, bufio.NewReader(c)}
	if _, err := s.ask("?"); err != nil {
		log.Fatal(err)
	}
	// Without a stop at first: the JVM begins.
	go func() {
		time.Sleep(*begins)
		_ = unix.Tgkill(pid, pid, unix.SIGUSR1)
	}()
	if _, err := s.run(pid, 0, 10**begins); err != nil {
		log.Fatal(err)
	}
	layout, err := open(pid)
	if err != nil {
		log.Fatal(err)
	}
	mem := vmstructs.Process(pid)
	counts, kept := map[string]int{}, map[string]int{}
	complete, all := 0, 0
	for end := time.Now().Add(*long); time.Now().Before(end); {
		u := unwinder.New(layout, mem, nil, false)
		if !u.Ready() {
			log.Fatal("no code yet")
		}
		for _, j := range u.Threads() {
			if name := u.ThreadName(j.Thread); name != *thread {
				continue
			}
			stopped, err := s.run(pid, j.TID, time.Duration(5+rand.IntN(40))*time.Millisecond)
			if err != nil {
				log.Fatal(err)
			}
			if !stopped {
				continue
			}
			x, err := s.registers(fmt.Sprintf("%x", j.TID))
			if err != nil {
				log.Fatal(err)
			}
			core := unwinder.Core{Layout: *layout, Thread: j.Thread, Registers: unwinder.Registers{PC: x[32], SP: x[31], FP: x[29], BX: x[12], R13: x[19], LR: x[30], X13: x[13], X22: x[22]}}
			core.Dump = make([]byte, 4096)
			for n := len(core.Dump); n >= 256 && mem.Read(core.Dump, x[31]) != nil; n /= 2 {
				core.Dump = core.Dump[:n/2]
			}
			w, full := unwinder.Record(core, mem, nil)
			if w.NativeTop {
				counts["native top: "+w.Broken]++
				continue
			}
			all++
			kind := "none"
			if len(w.Frames) > 0 {
				kind = kinds[w.Frames[0].Kind]
			}
			if w.Complete {
				complete++
			} else if counts[w.Broken]++; counts[w.Broken] <= 3 {
				log.Print(u.Explain(core.Registers, core.Dump, w))
			}
			name := kind
			if !w.Complete {
				name = "broken-" + kind
			}
			if kept[name]++; *out != "" && kept[name] <= 3 {
				save(full, fmt.Sprintf("%s-%s%d.core.gz", *out, name, kept[name]))
			}
		}
	}
	fmt.Printf("%d of %d complete; %v; %v\n", complete, all, kept, counts)
}

var kinds = map[stack.Kind]string{
	stack.Interpreted: "interpreted", stack.C1: "c1", stack.C2: "c2", stack.Inlined: "inlined", stack.JavaNative: "native", stack.Stub: "stub",
}

func open(pid int) (*unwinder.Layout, error) {
	t, err := vmstructs.ReadTables(pid)
	if err != nil {
		return nil, err
	}
	l, err := unwinder.NewLayout(t)
	if err == nil {
		l.Arm64 = true
	}
	return l, err
}

func save(c *unwinder.Core, file string) {
	f, err := os.Create(file)
	if err != nil {
		log.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(json.NewEncoder(z).Encode(c), z.Close(), f.Close()); err != nil {
		log.Fatal(err)
	}
}
