package attach_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// TestThreadIDs reads the lines of JDK 8, 17, 21 and 25, and names made to
// mislead.
func TestThreadIDs(t *testing.T) {
	dump := `2026-11-21 10:00:00
Full thread dump OpenJDK 64-Bit Server VM:

"main" #1 prio=5 os_prio=0 tid=0x00007f1c8c00a000 nid=0x1a2b in Object.wait() [0x00007f1c91b8e000]
   java.lang.Thread.State: WAITING (on object monitor)
"worker #77 nid=0x5 x" #12 daemon prio=5 os_prio=0 cpu=1.23ms elapsed=4.56s tid=0x00007f1c8c00b000 nid=0x1a2c runnable  [0x0]
"http" #31 [6701] daemon prio=5 os_prio=0 cpu=0.21ms elapsed=2.02s tid=0x00007f1c8c00c000 nid=6701 waiting on condition  [0x0]
"VM Thread" os_prio=0 tid=0x00007f1c8c00d000 nid=0x1a2d runnable
"broken" #x nid=0x1 runnable
`
	want := map[int64]int{1: 0x1a2b, 12: 0x1a2c, 31: 6701}
	if got := attach.ThreadIDs(dump); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStacks reads the frames of JDK 8, 17 and 25.
func TestStacks(t *testing.T) {
	dump := `Full thread dump OpenJDK 64-Bit Server VM:

"worker "1" #2 x" #12 daemon prio=5 os_prio=0 cpu=1.23ms elapsed=4.56s tid=0x00007f1c8c00b000 nid=0x1a2c runnable  [0x0]
   java.lang.Thread.State: RUNNABLE
	at shop.Price.of(Price.java:12)
	- locked <0x0000000081> (a java.lang.Object)
	at shop.Main$$Lambda$14/0x0000000800c03000.run(Unknown Source)
	at shop.module@1.2/shop.orders.Order$Line.<init>(Order.java:3)
	at java.base@17.0.1/java.lang.Thread.run(Thread.java:840)

   Locked ownable synchronizers:
	- None

"VM Thread" os_prio=0 tid=0x00007f1c8c00d000 nid=0x1a2d runnable
	at nobody.Is.here(X.java)
`
	got := attach.Stacks(dump)
	want := []attach.Stack{{Name: `worker "1" #2 x`, ID: 12, NID: 0x1a2c, Frames: []string{
		"shop.Price.of", "shop.Main$$Lambda$14/0x0000000800c03000.run", "shop.orders.Order$Line.<init>", "java.lang.Thread.run",
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
