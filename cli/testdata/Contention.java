import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Contention of which the program keeps account itself. "locks N platform|virtual": two
 * threads share a monitor, two a ReentrantLock. In each of N rounds one holds the lock until it
 * sees the other one wait, and 20 ms more. It prints how often and how long the other one
 * waited: "monitor COUNT NS", "lock COUNT NS". "busy": runs, and parks now and then.
 */
public class Contention {
	static final class Gate { }

	static final Gate monitor = new Gate();
	static final ReentrantLock lock = new ReentrantLock();
	static volatile double sink;

	static void spin() {
		double x = 1;
		for (int i = 0; i < 20000; i++) { x = Math.sqrt(x + i); }
		sink = x;
	}

	/** One of the two threads that share a lock. */
	abstract static class Pair {
		final AtomicReference<Thread> waiter = new AtomicReference<Thread>();
		volatile int held = -1;
		volatile int done = -1;
		long count;
		long ns;

		abstract void hold(int round) throws Exception;
		abstract void enter();

		void own(int rounds) {
			try {
				for (int i = 0; i < rounds; i++) {
					hold(i);
					while (done < i) { Thread.sleep(1); }
				}
			} catch (Exception e) { throw new Error(e); }
		}

		/** Keeps the lock until the other thread waits for it. */
		void keep(int round, Thread.State state) throws Exception {
			held = round;
			while (waiter.get() == null || waiter.get().getState() != state) { Thread.sleep(1); }
			Thread.sleep(20);
		}

		void want(int rounds) {
			waiter.set(Thread.currentThread());
			try {
				for (int i = 0; i < rounds; i++) {
					while (held < i) { Thread.sleep(1); }
					long t = System.nanoTime();
					enter();
					ns += System.nanoTime() - t;
					count++;
					done = i;
				}
			} catch (Exception e) { throw new Error(e); }
		}
	}

	static final class Monitor extends Pair {
		void hold(int round) throws Exception { synchronized (monitor) { keep(round, Thread.State.BLOCKED); } }
		void enter() { synchronized (monitor) { sink++; } }
	}

	static final class Lock extends Pair {
		void hold(int round) throws Exception {
			lock.lock();
			try { keep(round, Thread.State.WAITING); } finally { lock.unlock(); }
		}
		void enter() {
			lock.lock();
			lock.unlock();
		}
	}

	static Thread start(boolean virtual, String name, Runnable r) throws Exception {
		Thread t = new Thread(r, name);
		if (virtual) {
			Object b = Thread.class.getMethod("ofVirtual").invoke(null);
			Class<?> type = Class.forName("java.lang.Thread$Builder");
			b = type.getMethod("name", String.class).invoke(b, name);
			return (Thread) type.getMethod("start", Runnable.class).invoke(b, r);
		}
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		if (args[0].equals("busy")) {
			while (true) {
				for (int i = 0; i < 500; i++) { spin(); }
				java.util.concurrent.locks.LockSupport.parkNanos(Contention.class, 1000000);
			}
		}
		System.in.read();
		final int rounds = Integer.parseInt(args[1]);
		boolean virtual = args[2].equals("virtual");
		final Pair[] pairs = {new Monitor(), new Lock()};
		Thread[] threads = new Thread[4];
		for (int i = 0; i < 2; i++) {
			final Pair p = pairs[i];
			threads[2 * i] = start(virtual, "owner " + i, new Runnable() { public void run() { p.own(rounds); } });
			threads[2 * i + 1] = start(virtual, "waiter " + i, new Runnable() { public void run() { p.want(rounds); } });
		}
		for (Thread t : threads) { t.join(); }
		System.out.println("monitor " + pairs[0].count + " " + pairs[0].ns);
		System.out.println("lock " + pairs[1].count + " " + pairs[1].ns);
		System.out.println("over");
		Thread.sleep(600000);
	}
}
