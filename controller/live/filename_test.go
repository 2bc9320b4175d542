package live

import (
	"testing"
	"time"
)

// TestFileName has files called by program, root and date, in letters that every file system has.
func TestFileName(t *testing.T) {
	when := time.Date(2026, 11, 25, 14, 3, 0, 0, time.Local)
	for _, test := range []struct{ program, name, want string }{
		{"shop.Main", "3 Orders.process, D", "shop.Main-Orders.process-2026-11-25-1403"},
		{"/srv/shop app/shop-1.2.jar", "1 Orders.<init>, A", "shop-1.2-Orders.-init-2026-11-25-1403"},
		{"shop.Main --port 8080", "before / after: Überlast?", "shop.Main-before-after-berlast-2026-11-25-1403"},
		{"shop.Main", "monday.json.gz", "shop.Main-monday-2026-11-25-1403"},
		{"shop.Main", "shop.Main-Orders.process-2026-11-24-0900.rivulet", "shop.Main-Orders.process-2026-11-24-0900"},
		{"", "", "2026-11-25-1403"},
		{"..", "../../etc/passwd", "etc-passwd-2026-11-25-1403"},
	} {
		if got := fileName(test.program, test.name, when); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.program, test.name, got, test.want)
		}
	}
	if got := fileName("", "", time.Time{}); got != "rivulet" {
		t.Errorf("of nothing: %q", got)
	}
}
