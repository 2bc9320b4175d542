package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestViewForeign shows, compares and puts together what other profilers wrote.
func TestViewForeign(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.txt"), filepath.Join(dir, "after.txt")
	if err := os.WriteFile(before, []byte("shop/Main.main;shop/Price.of_[j] 1000\nshop/Main.main;shop/Stock.find 9000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(after, []byte("shop/Main.main;shop/Price.of_[j] 9000\nshop/Main.main;shop/Stock.find 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	newFake().run(t, "view", before).want(t, 0, "90.0 %", "")
	newFake().run(t, "view", before).want(t, 0, "from a file of collapsed", "")
	newFake().run(t, "diff", before, after).want(t, 0, "shop.Price.of", "")
	newFake().run(t, "diff", before, after).want(t, 0, "before.txt: 10,000 samples, 1m 40s\n", "")
	newFake().run(t, "merge", before, after).want(t, 0, "20,000 samples", "")
	profile := filepath.Join(dir, "x.pb.gz")
	newFake().run(t, "view", before, "-o", profile).want(t, 0, "", "")
	newFake().run(t, "view", profile).want(t, 0, "90.0 %", "")
	newFake().run(t, "view", profile).want(t, 0, "from a file of pprof", "")
}
