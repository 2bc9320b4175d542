package attach

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestRecording: a recording that is stopped can be read, one that is not is ended by Remove, and
// neither leaves anything in the folder or the JVM.
func TestRecording(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm := open(t, tg.pid)
		if err := vm.CanRecord(t.Context()); err != nil {
			t.Error(err)
		}
		events := []EventSetting{{"jdk.ThreadPark", map[string]string{"threshold": "0 ms"}}}
		for _, stop := range []bool{true, false} {
			r, err := vm.StartRecording(t.Context(), events, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if stop {
				if err := r.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				b := make([]byte, 4)
				if _, err := r.File.ReadAt(b, 0); err != nil || string(b) != "FLR\x00" || r.Size < 1000 {
					t.Errorf("%q, %d bytes, %v", b, r.Size, err)
				}
			}
			folder := procFile(tg.pid, "root"+r.folder.target())
			if _, err := os.Stat(folder); err != nil {
				t.Error(err)
			}
			if err := r.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", folder, err)
			}
			if text, err := vm.command(t.Context(), "jcmd", "JFR.check"); err != nil || !strings.Contains(text, "No available recordings") {
				t.Errorf("%v, %s", err, text)
			}
		}
		if left, _ := filepath.Glob(procFile(tg.pid, "cwd/hotspot-pid-"+strconv.Itoa(tg.pid)+"-*")); len(left) > 0 {
			t.Errorf("in the JVM's folder: %v", left)
		}
		tg.unharmed()
	})
}
