package kube

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A View is what a shell says of a container.
type View struct {
	Arch    string // as uname has it; "" if that is not there
	User    int    // who commands run as
	Writers []string
	Unpacks bool // by gzip
	Folders []Folder
	JVMs    []Process
	Limit   int64 // of memory, in bytes; 0 if there is none
	Used    int64 // of it, without what the kernel can take back
}

// A Folder is where a program might be put.
type Folder struct {
	Path    string
	Problem string // "" if a program can be written there and executed
}

// A Process is a JVM, as its command line shows it.
type Process struct {
	PID  int
	User int
	Main string
	Args []string
}

// lookScript writes a line for each thing that it finds. Tools beyond the shell itself may be missing.
//
//go:embed look.sh
var lookScript string

// usualFolders are tried for the binary, in this order.
var usualFolders = []string{"/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/opt", "/var/run"}

// mark ends a command line, which may have any bytes but NUL in it.
const mark = "\x00\n"

// mostSaid bounds what is read of a container's answer: command lines of JVMs have up to 128 KB each.
const mostSaid = 8 << 20

// A beginning keeps the first bytes that are written to it.
type beginning struct {
	b    []byte
	most int
}

func (k *beginning) Write(b []byte) (int, error) {
	k.b = append(k.b, b[:min(len(b), k.most-len(k.b))]...)
	return len(b), nil
}

// Look asks a shell what a container has and lacks. It writes and removes a file of some bytes in one folder after another until
// a program can be executed there.
func Look(ctx context.Context, c Cluster, at Place, folders []string) (*View, error) {
	out := &beginning{most: mostSaid}
	errs := &tail{}
	command := append([]string{"sh", "-c", lookScript, "rivulet"}, folders...)
	err := c.Exec(ctx, at, Streams{Out: out, Err: errs}, command...)
	var exit *ExitError
	if errors.As(err, &exit) && (exit.Code == 126 || exit.Code == 127) {
		return nil, noShellIn(at.Pod, err)
	}
	if err != nil && exit == nil {
		return nil, err
	}
	v := parseView(out.b)
	if exit != nil && v.Arch == "" && len(v.Folders) == 0 {
		return nil, fmt.Errorf("the shell of %s ended with code %d: %s", at, exit.Code, strings.TrimSpace(errs.String()))
	}
	return v, nil
}

// Folders are the places to try, each once. Volumes come last: they are somebody's data.
func Folders(mounts []string) []string {
	var out []string
	for _, dir := range slices.Concat(usualFolders, mounts) {
		if dir = path.Clean(dir); !slices.Contains(out, dir) && path.IsAbs(dir) {
			out = append(out, dir)
		}
	}
	return out
}

func parseView(b []byte) *View {
	v := &View{User: -1}
	number := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		key, value, _ := strings.Cut(string(line), " ")
		switch key {
		case "arch":
			v.Arch = value
		case "user":
			v.User = int(number(value))
		case "writer":
			if writers[value] != "" { // a shell may say more than it was asked
				v.Writers = append(v.Writers, value)
			}
		case "limit":
			v.Limit = number(value)
		case "used":
			v.Used += number(value)
		case "spare":
			v.Used -= number(value)
		case "unpacks":
			v.Unpacks = true
		case "folder":
			dir, problem, _ := strings.Cut(value, " ")
			v.Folders = append(v.Folders, Folder{dir, problem})
		case "jvm":
			pid, user, _ := strings.Cut(value, " ")
			args, rest, _ := bytes.Cut(b, []byte(mark))
			b = rest
			p := Process{PID: int(number(pid)), User: int(number(user)), Args: strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")}
			p.Main = mainOf(p.Args)
			v.JVMs = append(v.JVMs, p)
		}
	}
	v.Used = max(v.Used, 0)
	return v
}

// withValue are options of the java command whose value is the next argument.
var withValue = []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--limit-modules", "--add-exports", "--add-opens", "--add-reads", "--patch-module", "--source", "--enable-native-access", "--describe-module", "-d"}

// mainOf is the main class, module or jar of a command line of java; the program's name where there is none.
func mainOf(args []string) string {
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-jar" || a == "-m" || a == "--module":
			if i+1 < len(args) {
				return args[i+1]
			}
		case slices.Contains(withValue, a):
			i++
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "@"):
		default:
			return a
		}
	}
	return path.Base(args[0])
}

// Place is a folder that a program can be put into and executed.
func (v *View) Place(at Place) (string, error) {
	if len(v.Writers) == 0 {
		return "", &Error{Check: CheckShell, Cause: "the container of pod " + at.Pod + " has a shell, but nothing to write a file with (cat, dd, tee)", Fix: "use an ephemeral container: --image IMAGE"}
	}
	var problems []string
	for _, f := range v.Folders {
		if f.Problem == "" {
			return f.Path, nil
		}
		if f.Problem != "missing" {
			problems = append(problems, f.Path+" is "+f.Problem)
		}
	}
	return "", &Error{
		Check: CheckPlace, Cause: fmt.Sprintf("there is no folder in %s that a program can be put into and executed: %s", at, cmp.Or(strings.Join(problems, ", "), "none of the usual ones exists")),
		Fix: "mount an emptyDir at /tmp, or use an ephemeral container: --image IMAGE",
	}
}

// Room says whether the container's memory limit leaves as many bytes as are needed; where it does not, the kernel might kill the program.
func (v *View) Room(at Place, need int64) error {
	if left := v.Limit - v.Used; v.Limit > 0 && left < need {
		return &Error{
			Check: CheckMemory, Cause: fmt.Sprintf("%s may take %d MB more memory until its limit, and Rivulet in it needs up to %d MB: the kernel might end the program", at, max(left, 0)>>20, need>>20),
			Fix: "raise the limit, or use an ephemeral container (--image IMAGE), which has no part in it; --force goes on all the same",
		}
	}
	return nil
}

// OneJVM says what is wrong with the number of JVMs of a container.
func (v *View) OneJVM(at Place) error {
	if len(v.JVMs) > 0 {
		return nil
	}
	return &Error{Check: CheckJVM, Cause: "no JVM runs in " + at.String(), Fix: "rivulet kube ps lists the JVMs of all containers; --container names one"}
}
