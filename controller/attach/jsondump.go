package attach

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
)

// maxJSONDump is the longest dump that is read: half a million virtual threads.
const maxJSONDump = 1 << 30

// JSONThreadDump returns the form of a thread dump that has virtual threads (JDK 21 and
// later): the JVM writes it into a private folder of its /tmp, which is removed. The threads
// go on running meanwhile, so what it says of two of them may not fit together. The error
// matches ErrRejected where the JVM has no such dump.
func (vm *VM) JSONThreadDump(ctx context.Context) (text []byte, err error) {
	if n := vm.proc.Major(); n != 0 && n < 21 {
		return nil, &Error{PID: vm.proc.PID, Kind: ErrRejected, Cause: "JDK 21 and later have dumps with virtual threads"}
	}
	var d dumpFolder
	defer func() {
		if removing := d.remove(); err == nil {
			err = removing
		}
	}()
	if err := d.make(vm.proc, "/tmp", threadsPrefix); err != nil {
		return nil, err
	}
	const name = "threads.json"
	reply, err := vm.command(ctx, "jcmd", "Thread.dump_to_file -format=json "+path.Join(d.target(), name))
	if err != nil {
		return nil, err
	}
	f, size, err := d.open(name)
	if err != nil {
		return nil, &Error{PID: vm.proc.PID, Kind: ErrRejected, Err: err, Cause: "the JVM wrote no thread dump: " + oneLine(reply)}
	}
	defer f.Close()
	if size > maxJSONDump {
		return nil, &Error{PID: vm.proc.PID, Kind: ErrTooLong, Cause: "the thread dump is longer than 1 GB"}
	}
	text, err = io.ReadAll(io.LimitReader(f, maxJSONDump))
	if err == nil && !strings.HasPrefix(strings.TrimSpace(string(text[:min(len(text), 100)])), "{") {
		err = errors.New("thread dump: not JSON")
	}
	return text, err
}
