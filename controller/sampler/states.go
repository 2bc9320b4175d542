package sampler

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// A key names a method without its descriptor.
type key struct{ class, name string }

// waits are the methods in which a thread waits, and how.
var waits = map[key]stack.State{
	{"java/lang/Object", "wait"}:                               stack.Waiting,
	{"java/lang/Object", "wait0"}:                              stack.Waiting,
	{"jdk/internal/misc/Unsafe", "park"}:                       stack.Parked,
	{"sun/misc/Unsafe", "park"}:                                stack.Parked,
	{"java/lang/Thread", "sleep"}:                              stack.Sleeping,
	{"java/lang/Thread", "sleep0"}:                             stack.Sleeping,
	{"java/lang/Thread", "sleepNanos0"}:                        stack.Sleeping,
	{"java/lang/ref/Reference", "waitForReferencePendingList"}: stack.Waiting,
	{"java/lang/ProcessHandleImpl", "waitForProcessExit0"}:     stack.Waiting,
	{"java/lang/UNIXProcess", "waitForProcessExit"}:            stack.Waiting,
}

// input are the native methods that read, write, accept, connect or poll, of JDK 8 to 25.
var input = map[key]bool{
	{"java/net/SocketInputStream", "socketRead0"}:      true,
	{"java/net/SocketOutputStream", "socketWrite0"}:    true,
	{"java/net/PlainSocketImpl", "socketAccept"}:       true,
	{"java/net/PlainSocketImpl", "socketConnect"}:      true,
	{"java/net/PlainDatagramSocketImpl", "receive0"}:   true,
	{"java/net/PlainDatagramSocketImpl", "peekData"}:   true,
	{"java/net/Inet4AddressImpl", "lookupAllHostAddr"}: true,
	{"java/net/Inet6AddressImpl", "lookupAllHostAddr"}: true,
	{"java/io/FileInputStream", "readBytes"}:           true,
	{"java/io/FileInputStream", "read0"}:               true,
	{"java/io/FileOutputStream", "writeBytes"}:         true,
	{"java/io/RandomAccessFile", "readBytes"}:          true,
	{"java/io/RandomAccessFile", "readBytes0"}:         true,
	{"java/io/RandomAccessFile", "writeBytes"}:         true,
	{"java/io/RandomAccessFile", "writeBytes0"}:        true,
	{"sun/nio/ch/Net", "accept"}:                       true,
	{"sun/nio/ch/Net", "connect0"}:                     true,
	{"sun/nio/ch/Net", "poll"}:                         true,
	{"sun/nio/ch/EPoll", "wait"}:                       true,
	{"sun/nio/ch/EPollArrayWrapper", "epollWait"}:      true,
	{"sun/nio/ch/PollArrayWrapper", "poll0"}:           true,
	{"sun/nio/ch/ServerSocketChannelImpl", "accept0"}:  true,
	{"sun/nio/ch/SocketChannelImpl", "checkConnect"}:   true,
	{"sun/nio/ch/DatagramChannelImpl", "receive0"}:     true,
	{"sun/nio/ch/DatagramChannelImpl", "send0"}:        true,
	{"sun/nio/ch/FileChannelImpl", "transferTo0"}:      true,
	{"sun/nio/ch/IOUtil", "drain"}:                     true,
}

// dispatchers are the classes all of whose native methods read or write.
var dispatchers = map[string]bool{
	"sun/nio/ch/FileDispatcherImpl":     true,
	"sun/nio/ch/UnixFileDispatcherImpl": true,
	"sun/nio/ch/SocketDispatcher":       true,
	"sun/nio/ch/UnixDispatcher":         true,
	"sun/nio/ch/DatagramDispatcher":     true,
	"sun/nio/fs/UnixNativeDispatcher":   true,
	"java/io/UnixFileSystem":            true,
}

// calls are the system calls that read, write, accept, connect or poll.
var calls = map[int]bool{
	unix.SYS_READ: true, unix.SYS_WRITE: true, unix.SYS_READV: true, unix.SYS_WRITEV: true, unix.SYS_PREAD64: true, unix.SYS_PWRITE64: true,
	unix.SYS_PSELECT6: true, unix.SYS_PPOLL: true, unix.SYS_EPOLL_PWAIT: true,
	unix.SYS_RECVFROM: true, unix.SYS_SENDTO: true, unix.SYS_RECVMSG: true, unix.SYS_SENDMSG: true, unix.SYS_ACCEPT: true, unix.SYS_ACCEPT4: true,
	unix.SYS_CONNECT: true, unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_SENDFILE: true,
}

// stateOf says what a thread does that does not run Java code, and did not use the CPU.
func (s *Sampler) stateOf(tid int, a unwinder.Anchor, frames []stack.Frame) stack.State {
	var top *stack.Method
	for i := range frames {
		if k := frames[i].Kind; k != stack.Native && k != stack.Kernel && k != stack.Stub {
			top = frames[i].Method
			break
		}
	}
	if a.State == unwinder.BlockedInVM || a.State == unwinder.InNative {
		if top != nil {
			k := key{top.Class, top.Name}
			switch state, ok := waits[k]; {
			case a.Pending != 0: // Object.wait enters its monitor again at the end
				return stack.Blocked
			case ok:
				return state
			case a.State == unwinder.InNative && (input[k] || dispatchers[top.Class]):
				return stack.InIO
			}
		}
		switch {
		case a.Pending != 0:
			return stack.Blocked
		case a.Waiting != 0:
			return stack.Waiting
		}
	}
	if a.State == unwinder.InNative {
		return s.kernelState(tid)
	}
	return stack.InVM
}

// kernelState asks the kernel what a thread does in native code.
func (s *Sampler) kernelState(tid int) stack.State {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", s.pid, tid))
	if err != nil {
		return stack.Unknown
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte(" "))
	if string(first) == "running" {
		return stack.Runnable
	}
	n, err := strconv.Atoi(string(first))
	switch {
	case err != nil:
		return stack.Unknown
	case calls[n] || oldCalls[n]:
		return stack.InIO
	case n == unix.SYS_FUTEX:
		return stack.Waiting
	case n == unix.SYS_NANOSLEEP || n == unix.SYS_CLOCK_NANOSLEEP:
		return stack.Sleeping
	}
	return stack.Unknown
}
