package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A screen is a terminal of its own with a command in it.
type screen struct {
	t      *testing.T
	socket string
	exit   string // file for the command's exit code
}

// openScreen runs a command in tmux.
func openScreen(t *testing.T, width, height int, env, command string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux not installed")
	}
	dir := t.TempDir()
	s := &screen{t, filepath.Join(dir, "socket"), filepath.Join(dir, "exit")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		fmt.Sprintf("%s %s; echo exit $? >%s; cat", env, command, s.exit))
	t.Cleanup(func() { exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *screen) text() string { return s.tmux("capture-pane", "-p") }

// wait waits until the screen shows something.
func (s *screen) wait(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	last := ""
	defer func() {
		if s.t.Failed() {
			s.t.Log("the screen:\n" + last)
			s.tmux("resize-window", "-x", "240", "-y", "50")
			s.keys("7")
			time.Sleep(time.Second)
			s.t.Log("its log:\n" + s.text())
		}
	}()
	until(s.t, fmt.Sprintf("%q on the screen", pattern), func() bool {
		last = s.text()
		return re.MatchString(last)
	})
}

func (s *screen) keys(keys ...string) { s.tmux(append([]string{"send-keys"}, keys...)...) }

func (s *screen) ended(code int) {
	s.t.Helper()
	want := fmt.Sprintf("exit %d\n", code)
	until(s.t, "the command's end", func() bool {
		b, _ := os.ReadFile(s.exit)
		return len(b) > 0
	})
	if b, _ := os.ReadFile(s.exit); string(b) != want {
		s.t.Errorf("%q, want %q", b, want)
	}
}

// TestScreen is a session in a terminal: keys are sent, the screen is read.
func TestScreen(t *testing.T) {
	t.Parallel()
	p := startTerm(t)
	run := func(n int) {
		p.Send(fmt.Sprint(n))
		p.WaitLine(fmt.Sprintf("DONE %d", n))
	}
	saved := filepath.Join(t.TempDir(), "screen.json")
	s := openScreen(t, 90, 24, "", fmt.Sprintf("rivulet attach %d", p.PID()))
	s.wait(`^Term +pid \d+, Java .* attached$`)
	s.keys("-l", "Troot") // begins with the search
	s.wait(`^>   Term\.root\(\)V`)
	s.keys("Enter")
	s.wait(`^auto, low overhead timing \(tick\), root Term\.root\(\)V`)
	s.keys("Escape")
	s.keys("s")
	s.wait(`recording .* s$`)
	s.wait(`No invocation|no root call has begun`)
	run(40)
	s.wait(`^280 calls .* 40 root calls, 5 call paths`)
	s.wait(`^5 of 5 methods called, \d+ steps?, longest pause`)
	s.wait(`^> .* 40 +0  - \* Term\.root$`) // the hot path is open
	s.wait(` 120 +0 +(\* )?Term\.leaf$`)
	s.wait(` 40 +0 +(\* )?Term\.evil\x{fffd}c$`) // harmless
	s.wait(` 40 +0 +(\* )?Term\.csi\x{fffd}2J$`)
	s.wait(` 40 +0 +(\* )?Term\.測定$`)
	for i, line := range strings.Split(s.text(), "\n") { // nothing has spilled over
		if i == 5 && strings.Trim(line, "─") != "" {
			t.Errorf("line %d is %q", i, line)
		}
	}
	s.keys("Left")
	s.wait(`^> .* 40 +0  \+ \* Term\.root$`) // closed
	s.keys("Right")
	s.wait(`^> .*  - \* Term\.root$`)
	s.keys("p")
	s.wait(`paused .* s$`)
	run(5)
	s.keys("p")
	s.wait(`recording .* s$`)
	run(2)
	s.wait(`^294 calls .* 42 root calls`)
	s.keys("5")
	s.wait(`^> .* 42 .* main$`)
	s.keys("Enter") // one thread alone, which has all of it
	s.wait(`^thread .+ alone \(t: all\), auto: as called \+ look ahead \(C\)`)
	s.wait(`^> .* 42 +0  - \* Term\.root$`)
	s.keys("t")
	s.wait(`^auto: as called \+ look ahead \(C\), low overhead timing \(tick\), root`)
	s.keys("3", "o", "o")
	s.wait(`method, by calls`)
	s.wait(`^> .* 126 +0  Term\.leaf$`)
	s.keys("Down", "Up")
	s.wait(`^Term\.java:\d+  Term\.leaf\(`)
	s.keys("Enter")
	s.wait(` 126  Term\.root$`)
	s.keys("c")
	s.wait(`^auto: as called \+ look ahead \(C\), exact timing \(precise\)`)
	s.keys("r")
	s.wait(`^0 calls .* 0 root calls`)
	run(3)
	s.wait(`^21 calls .* 3 root calls`)
	s.keys("k")
	s.wait(`snapshot 1: 1 Term\.root, C`)
	s.keys("S") // ends, and begins anew
	s.wait(`^all at once \(A\), exact timing \(precise\)`)
	s.wait(`scheme A: done`)
	run(1)
	s.wait(`^7 calls .* 1 root call,`)
	s.keys("6")
	s.wait(`^> +1  .* 21 calls  1 Term\.root, C: as called \+ look ahead`)
	s.keys("b")
	s.wait(`^> before +1 `)
	s.wait(`^ +! .*as called \+ look ahead \(C\) before, all at once \(A\) after`)
	s.wait(`noise|No difference in time`)
	s.wait(`method, self time for as many`)
	s.keys(":")
	s.keys("-l", "methods 2 by calls")
	s.keys("Enter")
	s.wait(`^> Hot methods, by calls`)
	s.keys("Escape", "?")
	s.wait(`^ +q, Ctrl-C +end the recording`)
	s.keys("Escape", ":")
	s.keys("-l", "frobnicate")
	s.keys("Enter")
	s.wait(`^! there is no command "frobnicate"; help lists them`)
	s.keys("w")
	s.keys("-l", saved)
	s.keys("Enter")
	s.wait(`saved to /`)
	s.tmux("resize-window", "-x", "60", "-y", "12")
	s.keys("2")
	s.wait(`^> .*Term\.root$`)
	s.keys("s")
	s.wait(`stopped$`)
	wantNoAgent(t, p.PID())
	s.tmux("resize-window", "-x", "240", "-y", "24") // what goes wrong from here on is read whole
	s.keys("s")
	s.wait(`recording .* s$`)
	s.keys("C-c")
	s.ended(0)
	wantNoAgent(t, p.PID())
	code, out, errs := rivulet(t, "", "view", saved)
	if code != 0 || !strings.Contains(out, "1 root call, 7 calls on 5 call paths") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

// sgrColor is a colour in the form that terminals take (ECMA-48, SGR).
var sgrColor = regexp.MustCompile(`\x1b\[(\d+;)*([34][0-8]|9[0-7]|10[0-7])[;m]`)

// stopped is what the screen says of a recording that has ended.
var stopped = regexp.MustCompile(`(?m)stopped$`)

// TestScreenEnds has the session end by a signal, and with its terminal; the terminal and the target are as they were.
func TestScreenEnds(t *testing.T) {
	t.Parallel()
	p := startTerm(t, "loop")
	for name, end := range map[string]func(s *screen, pid int){
		"TERM": func(_ *screen, pid int) { syscall.Kill(pid, syscall.SIGTERM) },
		"HUP":  func(s *screen, _ int) { s.tmux("kill-session") },
	} {
		s := openScreen(t, 80, 24, "NO_COLOR=1", fmt.Sprintf("rivulet attach %d --root Term.root", p.PID()))
		s.wait(`attached$`)
		s.keys("s")
		s.wait(`recording .* s$`)
		s.wait(`> .* Term\.root$`)
		if colored := s.tmux("capture-pane", "-p", "-e"); sgrColor.MatchString(colored) { // bold and reverse are none
			t.Errorf("%s: colours in spite of NO_COLOR", name)
		}
		// The kernel's list of threads may lack one while another ends.
		until(t, name+": one agent while recording", func() bool {
			if agentThreads(t, p.PID()) == 1 {
				return true
			}
			if stopped.MatchString(s.text()) { // the machine stood still for two seconds, and the agent left as it should
				s.keys("s")
				s.wait(`recording .* s$`)
			}
			return false
		})
		out, err := exec.Command("pgrep", "-f", fmt.Sprintf("^rivulet attach %d ", p.PID())).Output()
		var pid int
		if _, err2 := fmt.Sscan(string(out), &pid); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		end(s, pid)
		until(t, name+" to end the session", func() bool { return agentThreads(t, p.PID()) == 0 && syscall.Kill(pid, 0) != nil })
		if name != "HUP" {
			s.ended(0)
			if text := s.text(); strings.Contains(text, "Term.root") {
				t.Errorf("%s: the screen is not given back:\n%s", name, text)
			}
		}
	}
}

// TestTerminalUnasked runs a short command on a terminal that answers nothing: the command asks the terminal nothing, and
// prints what it prints to a file. A library that asks for the background's colour at its start would wait for five seconds.
func TestTerminalUnasked(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("rivulet", "sample", "--help")
	want, wantErr := cmd.CombinedOutput()
	cmd = exec.Command("rivulet", "sample", "--help")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	got, _ := io.ReadAll(master) // EIO at its end
	err = cmd.Wait()
	if text := strings.ReplaceAll(string(got), "\r\n", "\n"); text != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("on a terminal %q, %v; to a file %q, %v", text, err, want, wantErr)
	}
}
