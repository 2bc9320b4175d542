package node

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func cores() int { return runtime.NumCPU() }

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
