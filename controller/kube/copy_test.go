package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCopy copies by each tool that writes, and by a real shell.
func TestCopy(t *testing.T) {
	const size = 200_000
	b, err := OpenBinary(binaryOf(t, 62, size))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(b.Path)
	tools := append(slices.Collect(maps.Keys(writers)), "gzip")
	for _, tool := range tools {
		dir := t.TempDir()
		v := &View{Arch: "x86_64", Writers: []string{tool}, Folders: []Folder{{Path: dir}}, Unpacks: tool == "gzip"}
		sent, all := int64(0), int64(0)
		name, err := Copy(t.Context(), &local{}, here, v, b, func(n, of int64) { sent, all = n, of })
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		got, err := os.ReadFile(name)
		if info, _ := os.Stat(name); err != nil || !bytes.Equal(got, want) || info.Mode().Perm() != 0o700 || sent != all || (all == size) == v.Unpacks || filepath.Dir(name) != dir || !IsCopy(name) {
			t.Errorf("%s: %d bytes sent, %v, %v", tool, sent, info, err)
		}
		Remove(t.Context(), &local{}, here, name)
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v has stayed", tool, left)
		}
	}
}

// TestCopyCut loses the connection in the middle: nothing stays.
func TestCopyCut(t *testing.T) {
	b, err := OpenBinary(binaryOf(t, 62, 200_000))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	v := &View{Writers: []string{"cat"}, Folders: []Folder{{Path: dir}}}
	c := &local{}
	c.own = func(ctx context.Context, s Streams, command []string) (bool, error) {
		if s.In == nil {
			return true, context.Canceled // nor can it be removed from here
		}
		s.In = io.LimitReader(s.In, 1000)
		return true, (&local{}).Exec(ctx, here, s, command...)
	}
	if _, err := Copy(t.Context(), c, here, v, b, func(int64, int64) {}); checkOf(err) != CheckPlace {
		t.Errorf("cut: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v has stayed", left)
	}
}

// TestCopyInterrupted removes what was copied, by another context than the one that has ended.
func TestCopyInterrupted(t *testing.T) {
	b, err := OpenBinary(binaryOf(t, 62, 64))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	removed := false
	c := &local{own: func(ctx context.Context, s Streams, command []string) (bool, error) {
		if s.In != nil {
			cancel()
			return true, ctx.Err()
		}
		removed = ctx.Err() == nil && strings.Contains(strings.Join(command, " "), "rm -f")
		return true, nil
	}}
	v := &View{Writers: []string{"cat"}, Folders: []Folder{{Path: t.TempDir()}}}
	if _, err := Copy(ctx, c, here, v, b, func(int64, int64) {}); !errors.Is(err, context.Canceled) || !removed {
		t.Errorf("%v, removed %v", err, removed)
	}
}

// TestCopyRefused has binaries that a container can't run.
func TestCopyRefused(t *testing.T) {
	b, err := OpenBinary(binaryOf(t, 183, 64))
	if err != nil || b.Arch != "aarch64" {
		t.Fatalf("%+v, %v", b, err)
	}
	v := &View{Arch: "x86_64", Writers: []string{"cat"}, Folders: []Folder{{Path: t.TempDir()}}}
	if _, err := Copy(t.Context(), &local{}, here, v, b, func(int64, int64) {}); checkOf(err) != CheckBinary {
		t.Error(err)
	}
	for _, name := range []string{"copy_test.go", binaryOf(t, 8, 64), "/bin/sh"} {
		if _, err := OpenBinary(name); checkOf(err) != CheckBinary {
			t.Errorf("%s: %v", name, err)
		}
	}
}
