package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// kinds are what Made.java allocates, by its argument.
var kinds = []string{"objects of four types", "arrays of four types", "objects that the compiler removes"}

// objectsInCall is how many a call of Made.java allocates.
const objectsInCall = 8

// objects measures what counting an object costs on Made.java.
func objects(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	page.Table(fmt.Sprintf("An object, JDK %d, tick", j.Version), "A call that allocates eight objects, the best of many repetitions, in processes of their own. The last columns are what `--count allocations`, and `--count survivors` on top of it, add to the recording, by object. ",
		"allocated|", "bare ns a call", "recorded", "with allocations", "with survivors", "ns an object", "survivors: ns more")
	if err := compile(k, j, "Made.java"); err != nil {
		return err
	}
	for kind, name := range kinds {
		var all [][]float64
		for range k.Reps {
			row := make([]float64, 4)
			for i, flags := range [][]string{nil, {"--root", "Made.root"}, {"--root", "Made.root", "--count", "allocations"}, {"--root", "Made.root", "--count", "survivors"}} {
				var err error
				if row[i], err = best(k, j, "Made", kind, flags); err != nil {
					return err
				}
			}
			all = append(all, row)
		}
		m := bench.Medians(all)
		page.Row(name, m[0], m[1], m[2], m[3], (m[2]-m[1])/objectsInCall, (m[3]-m[2])/objectsInCall)
	}
	return nil
}

// compile compiles a source of this folder.
func compile(k *bench.Kit, j jdk.JDK, source string) error {
	if b, err := exec.Command(j.Javac(), "-d", k.Temp, filepath.Join("tools", "counting", source)).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, b)
	}
	return nil
}

// best runs a class of this folder, recorded if there are flags, and returns ns a call.
func best(k *bench.Kit, j jdk.JDK, class string, kind int, flags []string) (ns float64, err error) {
	p, err := proc.Start(exec.Command(j.Java(), "-Xmx256m", "-cp", k.Temp, class, strconv.Itoa(kind)))
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	if _, err := p.Line("READY"); err != nil {
		return 0, err
	}
	if flags != nil {
		rec, err := k.Record(strconv.Itoa(p.Cmd.Process.Pid), append([]string{"--scheme", "B", "--depth", "1"}, flags...)...)
		if err != nil {
			return 0, err
		}
		defer rec.Kill()
	}
	if err := p.Send("run"); err != nil {
		return 0, err
	}
	line, err := p.Line("NS ")
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(line, "NS ")), 64)
}
