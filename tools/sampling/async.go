package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// The peer as Maven Central has it.
const (
	artifact = "tools.profiler:async-profiler:4.5"
	jar      = "async-profiler-4.5.jar"
	inJar    = "linux-x64/libasyncProfiler.so"
)

// library fetches async-profiler by Maven.
func library(k *bench.Kit) (string, error) {
	cmd := exec.Command("mvn", "-q", "-B", "dependency:copy", "-Dartifact="+artifact, "-DoutputDirectory="+k.Temp)
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("async-profiler: mvn: %w: %s", err, b)
	}
	cmd = exec.Command(filepath.Join(k.JDKs[0].Home, "bin", "jar"), "xf", jar, inJar)
	cmd.Dir = k.Temp
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("async-profiler: jar: %w: %s", err, b)
	}
	return filepath.Join(k.Temp, filepath.FromSlash(inJar)), nil
}

// async is one window of async-profiler's.
func async(k *bench.Kit, pid, lib string) (map[string]int64, error) {
	file := filepath.Join(k.Temp, "collapsed.txt")
	os.Remove(file)
	if err := tell(pid, lib, "start,event=ctimer,interval="+period+",cstack=vm"); err != nil {
		return nil, err
	}
	time.Sleep(window)
	if err := tell(pid, lib, "stop,collapsed,ann,file="+file); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return collapsed(string(b)), nil
}

func tell(pid, lib, options string) error {
	const patience = 20 * time.Second
	ctx, end := context.WithTimeout(context.Background(), patience)
	defer end()
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	vm, err := attach.Open(ctx, n)
	if err != nil {
		return err
	}
	reply, err := vm.Execute(ctx, "load", lib, "true", options)
	if err == nil && (reply.Code != 0 || strings.Contains(reply.Text, "rror")) {
		err = fmt.Errorf("%s: code %d: %s", options, reply.Code, reply.Text)
	}
	return err
}
