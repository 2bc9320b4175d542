package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of the protocol (attachListener.hpp). A request of version 1 that
// exceeds them is answered by hanging up, and by an error in the target's log.
const (
	maxCommand = 16        // bytes, version 1
	maxArgs    = 3         // version 1 always has three
	maxArg     = 1024      // bytes, version 1
	maxRequest = 256 << 10 // bytes, version 2 (JDK 24 and later)
	maxReply   = 64 << 20  // what we are ready to hold
)

// A Reply is the JVM's answer. Code 0 means that the command was carried out;
// some commands tell their failure in Text only.
type Reply struct {
	Code int
	Text string
}

// Execute sends one command to the attach listener and returns its answer,
// whatever its code. Without a deadline in ctx it takes a minute at most. The
// JVM runs commands one after the other, and an ended context ends the waiting
// but not the command.
func (vm *VM) Execute(ctx context.Context, cmd string, args ...string) (Reply, error) {
	ctx, cancel := withTimeout(ctx, replyTimeout)
	defer cancel()
	req, err := vm.encode(ctx, cmd, args)
	if err != nil {
		return Reply{}, err
	}
	return vm.roundTrip(ctx, cmd, req)
}

// encode writes a request of version 1, which every JDK reads, unless only
// version 2 can hold it.
func (vm *VM) encode(ctx context.Context, cmd string, args []string) ([]byte, error) {
	err := checkV1(vm.proc.PID, cmd, args)
	if err == nil {
		return encodeV1(cmd, args), nil
	}
	if !errors.Is(err, ErrTooLong) || vm.proc.Major() != 0 && vm.proc.Major() < 24 {
		return nil, err
	}
	r, verr := vm.roundTrip(ctx, "getversion", encodeV1("getversion", []string{"options"}))
	if verr != nil {
		return nil, verr
	}
	if v, _, _ := strings.Cut(r.Text, " "); r.Code != 0 || v != "2" {
		return nil, err
	}
	req := encodeV2(cmd, args)
	if len(req) > maxRequest {
		return nil, &Error{PID: vm.proc.PID, Kind: ErrTooLong, Cause: fmt.Sprintf("attach command %.16q is %d bytes long, the limit is %d", cmd, len(req), maxRequest), Fix: "pass long arguments in a file"}
	}
	return req, nil
}

func checkV1(pid int, cmd string, args []string) error {
	long := func(what string, n, limit int) error {
		return &Error{PID: pid, Kind: ErrTooLong, Cause: fmt.Sprintf("%s is %d bytes long, the limit before JDK 24 is %d", what, n, limit), Fix: "use a shorter one, or pass it in a file"}
	}
	for _, s := range append([]string{cmd}, args...) {
		if strings.IndexByte(s, 0) >= 0 {
			return &Error{PID: pid, Kind: ErrRejected, Cause: "an attach request can't contain a NUL byte"}
		}
	}
	if len(cmd) > maxCommand {
		return long(fmt.Sprintf("attach command %.40q", cmd), len(cmd), maxCommand)
	}
	if len(args) > maxArgs {
		return &Error{PID: pid, Kind: ErrTooLong, Cause: fmt.Sprintf("attach command %q has %d arguments, the limit before JDK 24 is %d", cmd, len(args), maxArgs), Fix: "join them"}
	}
	for i, a := range args {
		if len(a) > maxArg {
			return long(fmt.Sprintf("argument %d of attach command %q", i+1, cmd), len(a), maxArg)
		}
	}
	return nil
}

// encodeV1: "1\0cmd\0arg\0arg\0arg\0". The listener, the only one there is,
// waits for exactly three arguments.
func encodeV1(cmd string, args []string) []byte {
	var b strings.Builder
	b.WriteString("1\x00" + cmd + "\x00")
	for i := range maxArgs {
		if i < len(args) {
			b.WriteString(args[i])
		}
		b.WriteByte(0)
	}
	return []byte(b.String())
}

// encodeV2: "2\0length\0cmd\0arg\0...", where length counts what follows it.
func encodeV2(cmd string, args []string) []byte {
	body := strings.Join(append([]string{cmd}, args...), "\x00") + "\x00"
	return []byte("2\x00" + strconv.Itoa(len(body)) + "\x00" + body)
}

// decodeReply splits "code\ntext".
func decodeReply(b []byte) (Reply, error) {
	head, text, _ := strings.Cut(string(b), "\n")
	code, err := strconv.ParseInt(strings.TrimSpace(head), 10, 32)
	if err != nil {
		return Reply{}, fmt.Errorf("reply begins with %.40q instead of a number", head)
	}
	return Reply{int(code), text}, nil
}

func (vm *VM) roundTrip(ctx context.Context, cmd string, req []byte) (Reply, error) {
	p := vm.proc
	conn, err := vm.dial(ctx)
	if err != nil {
		return Reply{}, err
	}
	defer conn.Close()
	if d, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(d)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	var b []byte
	if _, err = conn.Write(req); err == nil {
		b, err = io.ReadAll(io.LimitReader(conn, maxReply+1))
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		if err := vm.Alive(); err != nil {
			return Reply{}, err
		}
		return Reply{}, cancelled(ctx, p.PID, &Error{
			PID: p.PID, Kind: ErrNoAnswer, Cause: fmt.Sprintf("the JVM's attach listener didn't answer %q in time", cmd),
			Fix: "another tool may keep it busy, or the JVM is overloaded: try again. " +
				"On JDK 8 the listener has ended for good if the process ever had no descriptors left for it: then only a restart helps",
		})
	case len(b) > maxReply:
		return Reply{}, &Error{PID: p.PID, Kind: ErrNoAnswer, Cause: fmt.Sprintf("the answer to %q exceeds %d MB", cmd, maxReply>>20)}
	case err == nil && len(b) > 0:
		r, err := decodeReply(b)
		if err != nil {
			return r, &Error{PID: p.PID, Kind: ErrNoAnswer, Cause: fmt.Sprintf("the answer to %q makes no sense", cmd), Err: err}
		}
		return r, nil
	}
	// It hung up. A JVM that is going down takes a moment to be gone.
	for range 20 {
		if err := vm.Alive(); err != nil {
			return Reply{}, err
		}
		if !sleep(ctx, 5*time.Millisecond) {
			break
		}
	}
	return Reply{}, &Error{
		PID: p.PID, Kind: ErrNoAnswer, Err: err, Cause: fmt.Sprintf("the JVM hung up on %q without an answer", cmd),
		Fix: "it may be shutting down, or want its own user: run as " + p.User,
	}
}

// dial connects to the socket, and has it made again if a cleaner of /tmp has
// removed it or it is left from another process.
func (vm *VM) dial(ctx context.Context) (net.Conn, error) {
	if err := vm.Alive(); err != nil {
		return nil, err
	}
	if err := vm.proc.checkDescriptors(); err != nil {
		return nil, err
	}
	conn, err := vm.connect(ctx)
	if errors.Is(err, unix.ECONNREFUSED) {
		vm.proc.removeSocket()
		err = unix.ENOENT
	}
	if errors.Is(err, unix.ENOENT) {
		if err := vm.listen(ctx); err != nil {
			return nil, err
		}
		conn, err = vm.connect(ctx)
	}
	var e *Error
	if err == nil || errors.As(err, &e) {
		return conn, err
	}
	if gone := vm.Alive(); gone != nil {
		return nil, gone
	}
	p := vm.proc
	fail := &Error{PID: p.PID, Kind: ErrNoSocket, Err: err, Cause: fmt.Sprintf("can't connect to /tmp/.java_pid%d", p.NSPID), Fix: "try again"}
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, otherUser(p, err)
	case errors.Is(err, unix.EAGAIN):
		fail.Kind, fail.Cause = ErrNoAnswer, "the JVM's attach listener is busy and its queue full"
		return nil, cancelled(ctx, p.PID, fail)
	case ctx.Err() != nil:
		return nil, cancelled(ctx, p.PID, fail)
	}
	return nil, fail
}

// connect opens the socket as the target's user.
func (vm *VM) connect(ctx context.Context) (net.Conn, error) {
	p := vm.proc
	tmp, err := p.tmp()
	if err != nil {
		return nil, err
	}
	defer tmp.Close()
	// Pin the file that was checked, lest a link take its place.
	path, err := unix.Openat(int(tmp.Fd()), socketName(p.NSPID), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, unix.ENOTSOCK
	}
	if st.Uid != p.UID {
		return nil, unix.ENOENT // not the JVM's; listen knows what to do
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "attach")
	defer f.Close() // FileConn duplicates it
	for {
		err := asUser(p.UID, p.GID, func() error {
			return unix.Connect(fd, &unix.SockaddrUnix{Name: fdPath(path)})
		})
		if err == nil {
			break
		}
		// The queue of five is full; a blocking connect would hang.
		if !errors.Is(err, unix.EAGAIN) || !sleep(ctx, 20*time.Millisecond) {
			return nil, err
		}
	}
	// The process that called listen. Containers that share /tmp may have
	// two JVMs with the same number.
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err == nil && peer.Pid != 0 && int(peer.Pid) != p.PID {
		return nil, &Error{
			PID: p.PID, Kind: ErrNoSocket, Cause: fmt.Sprintf("/tmp/.java_pid%d belongs to process %d", p.NSPID, peer.Pid),
			Fix: "give containers that share /tmp one of their own",
		}
	}
	return net.FileConn(f)
}
