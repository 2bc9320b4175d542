package attach

import (
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links a path may lead through, as in the kernel.
const maxLinks = 40

// openWalking opens a file below a root folder, for kernels without openat2(2): it resolves
// links as a process would whose root folder that is, and never leaves it. Each name is opened
// by its folder, so nothing that is moved meanwhile leads elsewhere: "..", too, is the folder
// that was passed on the way.
func openWalking(root int, name string, flags int) (fd int, err error) {
	var way []int // the folders below the root that were passed
	defer func() {
		for _, fd := range way {
			unix.Close(fd)
		}
	}()
	at := func() int {
		if len(way) == 0 {
			return root
		}
		return way[len(way)-1]
	}
	back := func(n int) {
		for ; n > 0 && len(way) > 0; n-- {
			unix.Close(at())
			way = way[:len(way)-1]
		}
	}
	todo, links := strings.Split(name, "/"), 0
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "":
			continue
		case ".", "..":
			if err := unix.Faccessat(at(), ".", unix.F_OK, 0); err != nil { // of something that is no folder
				return -1, err
			}
			back(len(next) - 1)
			continue
		}
		fd, err := unix.Openat(at(), next, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		way = append(way, fd)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return -1, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			continue
		}
		if links++; links > maxLinks {
			return -1, unix.ELOOP
		}
		text := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(fd, "", text)
		if err != nil {
			return -1, err
		}
		back(1)
		to := string(text[:n])
		if strings.HasPrefix(to, "/") {
			back(len(way))
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	return reopen(at(), flags)
}

// reopen opens a file, of which there is a path descriptor, in another way.
func reopen(fd, flags int) (int, error) {
	if flags&unix.O_DIRECTORY != 0 {
		return unix.Openat(fd, ".", flags|unix.O_CLOEXEC, 0)
	}
	return unix.Open(fdPath(fd), flags|unix.O_CLOEXEC, 0)
}
