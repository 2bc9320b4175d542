package suggest

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// waits are the operations by which Java code waits for something: the name of a method or
// a class. What time a thread spends in one, on its way into the kernel and out, is no work.
var waits = []string{
	"java.lang.Object.wait", "java.lang.Thread.sleep", "java.util.concurrent.locks.LockSupport.park", "java.util.concurrent.locks.LockSupport.parkNanos", "java.util.concurrent.locks.LockSupport.parkUntil",
	"jdk.internal.misc.Unsafe.park", "sun.misc.Unsafe.park", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos", "java.util.concurrent.LinkedBlockingQueue.poll", "java.util.concurrent.LinkedBlockingQueue.take",
	"java.util.concurrent.ArrayBlockingQueue.poll", "java.util.concurrent.ArrayBlockingQueue.take", "java.util.concurrent.SynchronousQueue.poll", "java.util.concurrent.SynchronousQueue.take",
	"java.util.concurrent.DelayQueue.poll", "java.util.concurrent.DelayQueue.take", "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.poll",
	"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", "java.util.concurrent.LinkedBlockingDeque.poll", "java.util.concurrent.LinkedBlockingDeque.take",
	"java.util.concurrent.LinkedTransferQueue.poll", "java.util.concurrent.LinkedTransferQueue.take", "java.util.concurrent.ForkJoinPool.awaitWork", "java.util.TimerThread.mainLoop",
	"sun.nio.ch.SelectorImpl.select", "sun.nio.ch.SelectorImpl.selectNow", "sun.nio.ch.SelectorImpl.lockAndDoSelect", "sun.nio.ch.EPoll.wait", "sun.nio.ch.Net.poll",
	"sun.nio.ch.ServerSocketChannelImpl.accept", "java.net.ServerSocket.accept", "java.lang.ref.ReferenceQueue.remove",
}

// waiting tells which methods of a report wait.
func waiting(r *export.Report) func(method int32) bool {
	known := map[int32]bool{}
	return func(method int32) bool {
		w, ok := known[method]
		if !ok {
			name, _, _ := strings.Cut(r.Method(method).Name, "(")
			w = slices.Contains(waits, name)
			known[method] = w
		}
		return w
	}
}
