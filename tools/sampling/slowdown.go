package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

//go:embed Laps.java
var lapsJava []byte

const (
	lapWarm   = 10 * time.Second
	lapWindow = 5 * time.Second
	lapTurns  = 4
	lapLead   = 500 * time.Millisecond // of a window, in which nothing counts
)

// rates are those whose slow-down is measured; 0 is nobody, and again, which shows the noise.
var rates = []int{99, 999, 0}

// slowdown measures what being sampled costs a program: windows in one process, each rate's beside a bare one.
func slowdown(k *bench.Kit, page *bench.Page) error {
	if !k.Wants("slow-down") {
		return nil
	}
	page.Table("What it costs the program", fmt.Sprintf("A program that does the same work again and again for some ms each time, on 2 cores with nothing else: %v to warm up, then windows of %v, %d of each rate, each after a bare one. "+
		"Slow-down: the median, and the least, time of a lap in the sampled windows by that in the bare ones before them. 0 Hz: a bare window in the place of a sampled one.", lapWarm, lapWindow, lapTurns),
		"program|", "JDK", "Hz", "laps", "bare, median ms", "slow-down of the median, %", "of the least, %")
	for _, j := range k.JDKs {
		log.Printf("JDK %d, slow-down", j.Version)
		if err := lapsOf(k, j, page); err != nil {
			return fmt.Errorf("JDK %d, slow-down: %w", j.Version, err)
		}
	}
	return nil
}

// laps are a program's, as they come.
type laps struct {
	mu  sync.Mutex
	all []float64 // ms
}

func (l *laps) read(r io.Reader) {
	for in := bufio.NewScanner(r); in.Scan(); {
		ns, err := strconv.ParseFloat(strings.TrimPrefix(in.Text(), "LAP "), 64)
		if err == nil {
			l.mu.Lock()
			l.all = append(l.all, ns/1e6)
			l.mu.Unlock()
		}
	}
}

// during are those of some time.
func (l *laps) during(length time.Duration) []float64 {
	l.mu.Lock()
	from := len(l.all)
	l.mu.Unlock()
	time.Sleep(length)
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]float64(nil), l.all[from:]...)
}

func lapsOf(k *bench.Kit, j jdk.JDK, page *bench.Page) error {
	dir := filepath.Join(k.Temp, "laps"+strconv.Itoa(j.Version))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	source := filepath.Join(dir, "Laps.java")
	if err := os.WriteFile(source, lapsJava, 0o644); err != nil {
		return err
	}
	if b, err := exec.Command(filepath.Join(j.Home, "bin", "javac"), "-d", dir, source).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w: %s", err, b)
	}
	cmd := exec.Command(filepath.Join(j.Home, "bin", "java"), "-Xmx256m", "-cp", dir, "Laps")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()         //nolint:errcheck // it was killed
	defer cmd.Process.Kill() //nolint:errcheck // it is there
	l := &laps{}
	go l.read(out)
	time.Sleep(lapWarm)
	for _, hz := range rates {
		var bare, sampled []float64
		for range lapTurns {
			bare = append(bare, l.during(lapWindow)...)
			end := func() error { return nil }
			if hz > 0 {
				s := exec.Command(k.Rivulet, "sample", strconv.Itoa(cmd.Process.Pid), "--hz", strconv.Itoa(hz), "--for", (lapWindow + 2*lapLead).String(), "-o", filepath.Join(k.Temp, "laps.json"))
				if err := s.Start(); err != nil {
					return err
				}
				end = s.Wait
			}
			time.Sleep(lapLead)
			sampled = append(sampled, l.during(lapWindow)...)
			if err := end(); err != nil {
				return err
			}
			time.Sleep(lapLead)
		}
		page.Row("laps", j.Version, hz, len(sampled), bench.Median(bare), 100*(bench.Median(sampled)/bench.Median(bare)-1), 100*(bench.Min(sampled)/bench.Min(bare)-1))
	}
	return nil
}
