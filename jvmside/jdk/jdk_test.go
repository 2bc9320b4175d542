package jdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFeature(t *testing.T) {
	for full, want := range map[string]int{
		"1.8.0_504": 8, "11.0.33": 11, "17": 17, "21.0.12.1": 21, "26-ea": 26, "": 0, "x": 0,
	} {
		if got := feature(full); got != want {
			t.Errorf("feature(%q) = %d, want %d", full, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	home := t.TempDir()
	if _, err := At(home); err == nil || !strings.Contains(err.Error(), "no bin/java") {
		t.Errorf("empty folder: %v", err)
	}
	java := filepath.Join(home, "bin", "java")
	write(t, java, "#!/bin/sh\necho 'openjdk version \"1.8.0_77\"' >&2\n")
	j, err := At(home)
	if err != nil || j.Version != 8 || j.Full != "1.8.0_77" || j.HasJavac() {
		t.Errorf("no release file: %+v, %v", j, err)
	}
	write(t, filepath.Join(home, "release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.2\"\n")
	write(t, j.Javac(), "")
	j, err = At(home)
	if err != nil || j.Version != 21 || j.Java() == "" || !j.HasJavac() {
		t.Errorf("release file: %+v, %v", j, err)
	}
	write(t, java, "#!/bin/sh\nexit 1\n")
	write(t, filepath.Join(home, "release"), "")
	if _, err := At(home); err == nil || !strings.Contains(err.Error(), "-version") {
		t.Errorf("java that fails: %v", err)
	}
}

// TestAll runs what it finds and compares what it says about itself.
func TestAll(t *testing.T) {
	found := All()
	if len(found) == 0 {
		t.Skip("no JDK installed")
	}
	for i, j := range found {
		if i > 0 && found[i-1].Version >= j.Version {
			t.Errorf("%v is listed before %v", found[i-1], j)
		}
		if again, ok := Find(j.Version); !ok || again != j {
			t.Errorf("Find(%d) = %v, %v, want %v", j.Version, again, ok, j)
		}
		t.Log(j)
	}
	if _, ok := Find(1); ok {
		t.Error("Find(1) found something")
	}
	if _, ok := Default(); !ok {
		t.Error("no default")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
