package kube

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestLook has a real shell look at folders of this machine.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	good, after := filepath.Join(dir, "good"), filepath.Join(dir, "after")
	for _, d := range []string{good, after} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A folder that nobody can write to, not even root.
	if err := os.Symlink("/proc/self/fd", filepath.Join(dir, "proc")); err != nil {
		t.Fatal(err)
	}
	v, err := Look(t.Context(), &local{}, here, []string{filepath.Join(dir, "gone"), filepath.Join(dir, "proc"), good, after})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]; v.Arch != want || v.User != os.Getuid() || v.Writers[0] != "cat" {
		t.Errorf("%+v", v)
	}
	problem := map[string]string{}
	for _, f := range v.Folders {
		problem[f.Path] = f.Problem
	}
	if p, there := problem[good]; p != "" || !there {
		t.Errorf("%s: %q", good, p)
	}
	if p := problem[filepath.Join(dir, "gone")]; p != "missing" {
		t.Errorf("a folder that is not there: %q", p)
	}
	if p := problem[filepath.Join(dir, "proc")]; p == "" {
		t.Error("a program could be written to /proc")
	}
	if left, _ := os.ReadDir(good); len(left) > 0 {
		t.Errorf("%v has stayed", left)
	}
	if _, looked := problem[after]; looked {
		t.Error("a folder was written to after a good one was found")
	}
	if v, err = Look(t.Context(), &local{}, here, nil); err != nil || len(v.Folders) > 0 {
		t.Errorf("no folder was asked for: %+v, %v", v, err)
	}
	if got := Folders([]string{"/data", "/tmp/", "relative"}); got[0] != "/tmp" || got[len(got)-1] != "/data" || len(got) != len(usualFolders)+1 {
		t.Error(got)
	}
}

// TestLookNoExec looks at a folder that is mounted noexec, in namespaces of its own.
func TestLookNoExec(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	c := &local{own: func(ctx context.Context, s Streams, command []string) (bool, error) {
		all := append([]string{"--mount", "sh", "-c", `mount --make-rprivate / && mount -t tmpfs -o noexec x ` + dir + ` && mkdir ` + dir + `/ro && mount -t tmpfs -o ro x ` + dir + `/ro && exec "$@"`, "x"}, command...)
		cmd := exec.CommandContext(ctx, "unshare", all...)
		cmd.Stdout, cmd.Stderr = s.Out, s.Err
		return true, cmd.Run()
	}}
	v, err := Look(t.Context(), c, here, []string{dir, dir + "/ro"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Folder{{dir, "mounted noexec"}, {dir + "/ro", "read-only"}} {
		if !slices.Contains(v.Folders, want) {
			t.Errorf("%+v lacks %+v", v.Folders, want)
		}
	}
}

// TestNoShell has a container without a shell, by each way in which runtimes say so.
func TestNoShell(t *testing.T) {
	for _, say := range []error{
		&ExitError{127}, &ExitError{126},
		explain(errorText(`OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown`), asked{"create", "pods/exec", "shop", "orders-1"}),
	} {
		_, err := Look(t.Context(), &local{own: func(context.Context, Streams, []string) (bool, error) { return true, say }}, here, nil)
		if checkOf(err) != CheckShell || !strings.Contains(err.Error(), "--image") {
			t.Errorf("%v: %v", say, err)
		}
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

// TestView reads what a shell says.
func TestView(t *testing.T) {
	v := parseView([]byte("arch x86_64\nwriter dd\nuser 1000\nlimit 1000\nused 900\nspare 500\nfolder /tmp mounted noexec\nfolder /data\n" +
		"jvm 1 1000\njava\x00-Xmx1g\x00-cp\x00a\nb.jar\x00shop.Orders\x00--port\x008080\x00\x00\njvm 33 0\n/usr/bin/java\x00-jar\x00/app/batch.jar\x00\x00\n"))
	if v.Arch != "x86_64" || v.User != 1000 || v.Limit != 1000 || v.Used != 400 || len(v.JVMs) != 2 {
		t.Fatalf("%+v", v)
	}
	if p := v.JVMs[0]; p.PID != 1 || p.User != 1000 || p.Main != "shop.Orders" || len(p.Args) != 7 {
		t.Errorf("%+v", p)
	}
	if p := v.JVMs[1]; p.PID != 33 || p.Main != "/app/batch.jar" {
		t.Errorf("%+v", p)
	}
	if dir, err := v.Place(here); dir != "/data" || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	if err := v.Room(here, 600); err != nil {
		t.Error(err)
	}
	if err := v.Room(here, 601); checkOf(err) != CheckMemory {
		t.Errorf("no room, and %v", err)
	}
	v.Folders = v.Folders[:1]
	if _, err := v.Place(here); checkOf(err) != CheckPlace || !strings.Contains(err.Error(), "/tmp is mounted noexec") {
		t.Error(err)
	}
	v.Writers = nil
	if _, err := v.Place(here); checkOf(err) != CheckShell {
		t.Error(err)
	}
}

func TestMainOf(t *testing.T) {
	for line, want := range map[string]string{
		"java shop.Orders 8080": "shop.Orders", "java -cp a:b -Dx=y shop.Orders": "shop.Orders", "java --module-path m -m shop/shop.Orders": "shop/shop.Orders",
		"java @args --add-opens java.base/java.lang=ALL-UNNAMED -jar x.jar": "x.jar", "/opt/app/bin/orders": "orders", "java -version": "java",
	} {
		if got := mainOf(strings.Fields(line)); got != want {
			t.Errorf("%s: %s, not %s", line, got, want)
		}
	}
}

// TestLookBounded: a shell that never stops to talk fills no memory, and tools that nobody knows write nothing.
func TestLookBounded(t *testing.T) {
	said := 0
	c := &local{own: func(_ context.Context, s Streams, _ []string) (bool, error) {
		_, _ = s.Out.Write([]byte("arch x86_64\nwriter perl\nwriter dd\nfolder /tmp\n"))
		line := []byte("noise " + strings.Repeat("x", 1<<20) + "\n")
		for range 64 {
			n, err := s.Out.Write(line)
			if err != nil {
				return true, err
			}
			said += n
			_, _ = s.Err.Write(line)
		}
		return true, nil
	}}
	v, err := Look(t.Context(), c, here, nil)
	if err != nil || v.Arch != "x86_64" || !slices.Equal(v.Writers, []string{"dd"}) || said != 64*(1<<20+7) {
		t.Errorf("%v: %+v, %d bytes", err, v, said)
	}
	b := &beginning{most: 10}
	for range 3 {
		_, _ = b.Write([]byte("seven, "))
	}
	if string(b.b) != "seven, sev" {
		t.Errorf("%q", b.b)
	}
}

// TestLookKilled: a shell that is told to end removes the file that it tries a folder with.
func TestLookKilled(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "chmod"), []byte("#!/bin/sh\nls -a "+dir+" >"+bin+"/seen\nkill -TERM $PPID\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Look(t.Context(), &local{path: bin + ":/usr/bin:/bin"}, here, []string{dir})
	seen, _ := os.ReadFile(filepath.Join(bin, "seen"))
	if !strings.Contains(string(seen), ".rivulet-look-") {
		t.Fatalf("the folder was not tried: %v, %q", err, seen)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v: %v has stayed", err, left)
	}
}
