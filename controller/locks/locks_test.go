package locks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// dump has two threads that wait for the monitor of a third one, one that waits for a
// ReentrantLock of the same, and others that wait for something else.
const dump = `2026-11-24 23:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"owner" #10 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000001 nid=0x11 waiting on condition  [0x00007f0000001000]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
	at p.Store.save(Store.java:7)
	- locked <0x0000000700000010> (a p.Store)

   Locked ownable synchronizers:
	- <0x0000000700000020> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)

"one" #11 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000002 nid=0x12 waiting for monitor entry  [0x00007f0000002000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at p.Store.load(Store.java:9)
	- waiting to lock <0x0000000700000010> (a p.Store)
	at p.Main.run(Main.java:3)

   Locked ownable synchronizers:
	- None

"two" #12 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000003 nid=0x13 waiting on condition  [0x00007f0000003000]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
	- parking to wait for  <0x0000000700000020> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
	at java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:211)
	at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(java.base@17.0.15/AbstractQueuedSynchronizer.java:715)
	at java.util.concurrent.locks.ReentrantLock.lock(java.base@17.0.15/ReentrantLock.java:322)
	at p.Main.pay(Main.java:8)

   Locked ownable synchronizers:
	- None

"idle" #13 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000004 nid=0x14 waiting on condition  [0x00007f0000004000]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
	- parking to wait for  <0x0000000700000030> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)
	at java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:341)
	at java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block(java.base@17.0.15/AbstractQueuedSynchronizer.java:506)
	at java.util.concurrent.LinkedBlockingQueue.take(java.base@17.0.15/LinkedBlockingQueue.java:435)

   Locked ownable synchronizers:
	- None

"latch" #14 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000005 nid=0x15 waiting on condition  [0x00007f0000005000]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
	- parking to wait for  <0x0000000700000040> (a java.util.concurrent.CountDownLatch$Sync)
	at java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:211)
	at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(java.base@17.0.15/AbstractQueuedSynchronizer.java:715)
	at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireSharedInterruptibly(java.base@17.0.15/AbstractQueuedSynchronizer.java:1047)
	at java.util.concurrent.CountDownLatch.await(java.base@17.0.15/CountDownLatch.java:230)
	at p.Main.main(Main.java:8)

   Locked ownable synchronizers:
	- None

`

func TestDumps(t *testing.T) {
	var d locks.Dumps
	for range 4 {
		d.Add(threads.Parse(dump), 100*time.Millisecond)
	}
	d.Add(nil, 100*time.Millisecond)
	d.Add(threads.Parse(dump), 100*time.Millisecond)
	rows := d.Rows()
	if len(rows) != 2 {
		t.Fatalf("%+v", rows)
	}
	for i, want := range []locks.Row{
		{Class: "java.util.concurrent.locks.ReentrantLock$NonfairSync", Instance: "0x0000000700000020", Waiter: "p.Main.pay", WaiterStack: []string{"p.Main.pay"}},
		{Class: "p.Store", Instance: "0x0000000700000010", Waiter: "p.Store.load", WaiterStack: []string{"p.Store.load", "p.Main.run"}},
	} {
		r := rows[i]
		if r.Class != want.Class || r.Instance != want.Instance || r.Waiter != want.Waiter || !slices.Equal(r.WaiterStack, want.WaiterStack) ||
			r.Owner != "p.Store.save" || r.OwnerThread != "owner" || r.Count != 2 || r.Blocked != int64(500*time.Millisecond) {
			t.Errorf("%+v", r)
		}
		// Five observations of 100 ms: 1.96 * sqrt(5) * 100 ms.
		if r.Error < 438_000_000 || r.Error > 439_000_000 {
			t.Errorf("error %d", r.Error)
		}
	}
}
