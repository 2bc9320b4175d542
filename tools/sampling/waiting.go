package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

const (
	leastShop   = 11 // JDK, also of h2
	waiters     = 200
	waitHz      = 20
	waitWindow  = 30 * time.Second
	shopSeconds = 40 // more than the windows take
)

//go:embed Waiters.java
var waitersJava []byte

// compareShop does as compare with a server under load.
func compareShop(k *bench.Kit, j jdk.JDK, lib string) (c comparison, err error) {
	s, err := k.Serve(j, 0, debugInfo...)
	if err != nil {
		return c, err
	}
	defer s.Stop(&err)
	loaded := make(chan error, 1)
	go func() { loaded <- s.Load(shopSeconds) }()
	time.Sleep(warm)
	c, err = windows(k, s.PID, lib)
	return c, errors.Join(err, <-loaded)
}

// waiting measures what it takes to sample threads that wait.
func waiting(k *bench.Kit, page *bench.Page) error {
	if !k.Wants("waiting") {
		return nil
	}
	page.Table("Threads that wait", fmt.Sprintf("A program with %d parked threads and one that computes, sampled with --wall at %d Hz for %s. Own CPU: of a core, with the first sight of code.",
		waiters, waitHz, waitWindow), "program|", "JDK", "samples", "complete %", "first, ms", "own CPU, %")
	for _, j := range k.JDKs {
		log.Printf("JDK %d, waiting", j.Version)
		r, err := waitOn(k, j)
		if err != nil {
			return fmt.Errorf("JDK %d, waiting: %w", j.Version, err)
		}
		page.Row("waiting", j.Version, r.Sampling.Samples, fmt.Sprintf("%.2f", 100*float64(r.Sampling.Complete)/float64(max(r.Sampling.Samples, 1))),
			fmt.Sprintf("%.0f", r.Sampling.First), fmt.Sprintf("%.2f", 100*r.Sampling.Share))
	}
	return nil
}

func waitOn(k *bench.Kit, j jdk.JDK) (*sampled, error) {
	dir := filepath.Join(k.Temp, "waiters"+strconv.Itoa(j.Version))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "Waiters.java")
	if err := os.WriteFile(source, waitersJava, 0o644); err != nil {
		return nil, err
	}
	if b, err := exec.Command(filepath.Join(j.Home, "bin", "javac"), "-d", dir, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("javac: %w: %s", err, b)
	}
	cmd := exec.Command(filepath.Join(j.Home, "bin", "java"), "-cp", dir, "Waiters", strconv.Itoa(waiters))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()         //nolint:errcheck // it was killed
	defer cmd.Process.Kill() //nolint:errcheck // it is there
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	return sampleFor(k, strconv.Itoa(cmd.Process.Pid), waitWindow, "--wall", "--hz", strconv.Itoa(waitHz))
}
