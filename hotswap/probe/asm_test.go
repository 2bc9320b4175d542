//go:build asm

package probe_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

var (
	asmFigures = flag.String("asm.figures", "", "file that gets TestBesideASM's figures")
	asmRounds  = flag.Int("asm.rounds", 20, "how often TestBesideASM goes over its classes; the best counts")
)

// coldClasses is how many classes a cold start means.
const coldClasses = 100

// TestBesideASM rewrites java.base with ASM and with us, one after the other.
func TestBesideASM(t *testing.T) {
	share := filepath.Join(classtest.Corpora(), "root", "usr", "share", "java")
	cp := filepath.Join(share, "asm.jar") + ":" + filepath.Join(share, "asm-commons.jar") + ":" + filepath.Join(share, "asm-tree.jar")
	if _, err := os.Stat(filepath.Join(share, "asm-commons.jar")); err != nil {
		t.Fatalf("%v: run tools/corpora.sh", err)
	}
	home := classtest.Home(t)
	race := classtest.Compile(t, home, map[string]string{"AsmRace.java": readTestdata(t, "AsmRace.java")}, "-cp", cp)
	cs := without(classtest.Read(t, classtest.JavaBase(home)), "module-info")
	size := 0
	for _, c := range cs {
		size += len(c.Bytes)
	}
	dir := t.TempDir()
	all, few, out := filepath.Join(dir, "all"), filepath.Join(dir, "few"), filepath.Join(dir, "out")
	pack(t, all, cs)
	pack(t, few, classtest.Sample(t, cs, coldClasses, 1))
	java := func(file string, rounds int, more ...string) (nanos, bytes int, wall time.Duration) {
		t.Helper()
		start := time.Now()
		args := append([]string{"-cp", race + ":" + cp, "AsmRace", file, fmt.Sprint(rounds)}, more...)
		text, err := classtest.Java(t, home, args...)
		wall = time.Since(start)
		if n, _ := fmt.Sscanf(text, "nanos %d bytes %d", &nanos, &bytes); err != nil || n != 2 {
			t.Fatalf("%v\n%s", err, text)
		}
		return nanos, bytes, wall
	}
	var rows []string
	row := func(name string, nanos, bytes, cold int, wall time.Duration) {
		rows = append(rows, fmt.Sprintf("| %s | %.1f | %.0f | %.1f | %.2f | %.0f |", name, float64(nanos)/1e3,
			float64(size)/float64(len(cs))/float64(nanos)*1e3, float64(bytes)/1024, float64(cold*coldClasses)/1e6, wall.Seconds()*1e3))
	}
	// The best of three cold starts each, in turns.
	var asmCold, ourCold, bothCold best
	for range 3 {
		n, _, wall := java(few, 1)
		asmCold.take(n, wall)
		n, wall = ownCold(t, few, false)
		ourCold.take(n, wall)
		n, wall = ownCold(t, few, true)
		bothCold.take(n, wall)
	}
	nanos, bytes, _ := java(all, *asmRounds, out)
	row("ASM 9.4, JDK "+javaVersion(t, home), nanos, bytes, asmCold.nanos, asmCold.wall)
	checkASM(t, cs, out)

	warm := func(verified bool) (int, int) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		h := hierarchy(t, cs)
		least, allocated := time.Duration(1<<62), 0
		var before, after runtime.MemStats
		for range *asmRounds {
			runtime.ReadMemStats(&before)
			start := cpuTime()
			for _, c := range cs {
				rewriteOne(t, c, h, verified)
			}
			least = min(least, cpuTime()-start)
			runtime.ReadMemStats(&after)
			allocated = int(after.TotalAlloc-before.TotalAlloc) / len(cs)
		}
		return int(least) / len(cs), allocated
	}
	ours, ourBytes := warm(false)
	row("ours", ours, ourBytes, ourCold.nanos, ourCold.wall)
	both, bothBytes := warm(true)
	row("ours with verification", both, bothBytes, bothCold.nanos, bothCold.wall)

	text := fmt.Sprintf("# The rewriter beside ASM\n\nWritten by `go tool task bench:rewriter` on %s: %d classes of java.base (%d KB), all methods (%s, %s). ",
		time.Now().UTC().Format(time.DateOnly), len(cs), size/1024, cpu(), runtime.Version()) +
		"Both parse, add the entry, an exit before each return and a catch-all, and write with stack maps kept. ASM reads with EXPAND_FRAMES through a LocalVariablesSorter and shares its reader's constant pool; it is spared resync at handlers and the catch-alls of constructors, which ours does. Ours also finds max_stack. " +
		fmt.Sprintf("Warm is CPU time, the best of %d rounds over all classes in one process: of ASM's thread without the JVM's compiler and collector, of our whole process with GOMAXPROCS=1; cold is the best of three fresh processes for %d classes, without reading them. The whole process includes its start and reading; both are by the clock.\n\n", *asmRounds, coldClasses) +
		"| | warm, us a class | MB/s | KB allocated a class | first 100 classes, ms | whole process, ms |\n|---|---|---|---|---|---|\n" + strings.Join(rows, "\n") +
		fmt.Sprintf("\n\nVerification, which parses the result again, is %.0f %% of the time. Warm ours takes 1/%.1f of ASM's time, cold 1/%.0f.\n",
			100*float64(both-ours)/float64(both), float64(nanos)/float64(ours), float64(asmCold.nanos)/float64(ourCold.nanos))
	t.Log("\n" + text)
	if *asmFigures != "" {
		if err := os.WriteFile(*asmFigures, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if ours > nanos {
		t.Errorf("slower than ASM: %d ns a class, ASM %d", ours, nanos)
	}
}

// cpuTime is what this process has used, its collector included.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// best keeps the least of each.
type best struct {
	nanos int
	wall  time.Duration
}

func (b *best) take(nanos int, wall time.Duration) {
	if b.nanos == 0 || nanos < b.nanos {
		b.nanos = nanos
	}
	if b.wall == 0 || wall < b.wall {
		b.wall = wall
	}
}

// pack writes classes for AsmRace and TestColdStart.
func pack(t *testing.T, file string, cs []classtest.Class) {
	t.Helper()
	b := binary.BigEndian.AppendUint32(nil, uint32(len(cs)))
	for _, c := range cs {
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.Bytes)))
		b = append(b, c.Bytes...)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, b []byte) (cs []classtest.Class) {
	t.Helper()
	for len(b) > 4 {
		n := binary.BigEndian.Uint32(b)
		cs = append(cs, classtest.Class{Bytes: b[4 : 4+n]})
		b = b[4+n:]
	}
	return cs
}

func hierarchy(t *testing.T, cs []classtest.Class) verify.Classes {
	t.Helper()
	h := verify.Classes{}
	for _, cf := range cs {
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(c)
	}
	return h
}

func rewriteOne(t *testing.T, c classtest.Class, h verify.Hierarchy, verified bool) {
	id := int32(300)
	res, err := probe.Rewrite(c.Bytes, stubHooks, func(probe.MethodKey) (int32, bool) { id++; return id, true })
	if err != nil {
		t.Fatal(err)
	}
	if verified {
		if bad, err := probe.Verify(res, h); err != nil || len(bad) > 0 {
			t.Fatal(err, bad)
		}
	}
}

// ownCold runs TestColdStart in a fresh process.
func ownCold(t *testing.T, file string, verified bool) (nanos int, wall time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestColdStart$", "-test.v")
	cmd.Env = append(os.Environ(), "RIVULET_COLD="+file, fmt.Sprint("RIVULET_COLD_VERIFIED=", verified), "GOMAXPROCS=1")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall = time.Since(start)
	_, rest, _ := strings.Cut(string(out), "cold nanos ")
	if n, _ := fmt.Sscanf(rest, "%d", &nanos); err != nil || n != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	return nanos, wall
}

// TestColdStart is what TestBesideASM runs in processes of its own.
func TestColdStart(t *testing.T) {
	file := os.Getenv("RIVULET_COLD")
	if file == "" {
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cs := unpack(t, b[4:])
	h := hierarchyIf(t, cs, os.Getenv("RIVULET_COLD_VERIFIED") == "true")
	start := time.Now()
	for _, c := range cs {
		rewriteOne(t, c, h, h != nil)
	}
	fmt.Println("cold nanos", int(time.Since(start))/len(cs))
}

func hierarchyIf(t *testing.T, cs []classtest.Class, want bool) verify.Hierarchy {
	if !want {
		return nil
	}
	return hierarchy(t, cs)
}

// checkASM makes sure that ASM did its work: our verifier accepts it.
func checkASM(t *testing.T, cs []classtest.Class, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	done := unpack(t, b)
	if len(done) != len(cs) {
		t.Fatalf("ASM wrote %d classes of %d", len(done), len(cs))
	}
	h := hierarchy(t, done)
	for i, cf := range done {
		c, err := classfile.Parse(cf.Bytes)
		if err == nil {
			err = verify.Class(c, h)
		}
		if err != nil || bytes.Equal(cf.Bytes, cs[i].Bytes) && c.Attribute("Module") == nil && len(c.Methods) > 0 && !c.Access.Has(classfile.AccInterface) {
			t.Errorf("%s, by ASM: %v", cs[i].Name, err)
		}
	}
}

func javaVersion(t *testing.T, home string) string {
	t.Helper()
	out, _ := classtest.Java(t, home, "-version")
	_, rest, _ := strings.Cut(out, `"`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// cpu names the processor.
func cpu() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(b), "model name")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
}
