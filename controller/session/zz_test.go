package session

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

func TestDrive(t *testing.T) {
	pid, _ := strconv.Atoi(os.Getenv("DPID"))
	if pid == 0 { t.Skip() }
	ctx := context.Background()
	t0 := time.Now()
	s, err := Attach(ctx, pid, Config{Log: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug}), Warn: func(s string) { t.Log(s) }})
	if err != nil { t.Fatal(err) }
	t.Log("attached", time.Since(t0), s.loop.h.Len())
	n, _ := strconv.ParseInt(os.Getenv("DN"), 10, 64)
	err = s.Start(ctx, Recording{Roots: strings.Split(os.Getenv("DROOT"), ","), Scheme: os.Getenv("DSCHEME"), UntilCalls: n})
	t.Log("armed", time.Since(t0), err)
	if err != nil { t.Log(s.Close()); return }
	d, _ := time.ParseDuration(os.Getenv("DFOR"))
	if d == 0 { d = 3 * time.Second }
	select { case <-s.Done(): case <-time.After(d): }
	t.Logf("%+v", s.Progress())
	t.Log(s.Diagnose(ctx))
	r, err := s.Finish(ctx)
	t.Log(err)
	t.Logf("stats %+v", s.loop.stats)
	if r != nil { r.Text(os.Stdout, export.TextOptions{}) }
}
