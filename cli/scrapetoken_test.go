package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadToken takes a token from a file that only its owner can read.
func TestReadToken(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := strings.Repeat("k", 32)
	if got, err := readToken(write("good", good+"\n", 0o600)); err != nil || got != good {
		t.Errorf("%q, %v", got, err)
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open":  {good, 0o644, "chmod 600"},
		"short": {"k", 0o600, "openssl rand"},
		"empty": {"", 0o600, "openssl rand"},
	} {
		if got, err := readToken(write(name, c.text, c.mode)); err == nil || got != "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := readToken(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "--scrape-token") {
		t.Errorf("a file that is not there: %v", err)
	}
}
