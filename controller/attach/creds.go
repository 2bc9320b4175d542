package attach

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// asUser runs f with the given effective user and group. HotSpot compares them
// with its own when we connect (SO_PEERCRED is taken at that moment; older
// JDKs let not even root in), and files that f creates get the right owner.
//
// Credentials belong to a thread in Linux, and the syscall and unix packages
// change all threads at once; this changes one, with raw system calls. A thread
// that can't be changed back is never given back to the scheduler. f must not
// start goroutines that rely on the credentials, and loses root's permissions:
// open what needs those beforehand.
func asUser(uid, gid uint32, f func() error) error {
	if uint32(unix.Geteuid()) == uid && uint32(unix.Getegid()) == gid {
		return f()
	}
	done := make(chan error, 1)
	go func() { done <- onThread(uid, gid, f) }()
	return <-done
}

func onThread(uid, gid uint32, f func() error) error {
	runtime.LockOSThread()
	euid, egid := uint32(unix.Geteuid()), uint32(unix.Getegid())
	// A change of credentials makes the whole process undumpable, which
	// hands /proc/self to root and disables core files.
	dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	restore := func() bool { // the user first: it is what allows the rest
		ok := setEffective(unix.SYS_SETRESUID, euid) == nil && setEffective(unix.SYS_SETRESGID, egid) == nil
		if ok && dumpable == 1 {
			_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		}
		return ok
	}
	err := setEffective(unix.SYS_SETRESGID, gid)
	if err == nil {
		err = setEffective(unix.SYS_SETRESUID, uid)
	}
	if err != nil {
		err = fmt.Errorf("switching to uid %d, gid %d: %w", uid, gid, err)
	} else {
		err = f()
	}
	if restore() {
		runtime.UnlockOSThread()
	}
	return err
}

// setEffective calls setresuid or setresgid(-1, id, -1) for this thread alone.
func setEffective(trap uintptr, id uint32) error {
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(trap, keep, uintptr(id), keep); errno != 0 {
		return errno
	}
	return nil
}
