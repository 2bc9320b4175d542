package sampler

import "golang.org/x/sys/unix"

// oldCalls are system calls that newer machines don't have.
var oldCalls = map[int]bool{unix.SYS_POLL: true, unix.SYS_SELECT: true, unix.SYS_EPOLL_WAIT: true, unix.SYS_OPEN: true}
