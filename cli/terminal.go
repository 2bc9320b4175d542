package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether a stream is somebody's screen or keyboard.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// hasColor also heeds what users set to have none (no-color.org).
func hasColor(stream any) bool {
	return isTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// columns is the terminal's width, or a usual one.
func columns(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
			return int(size.Col)
		}
	}
	return 80
}
