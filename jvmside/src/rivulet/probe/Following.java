package rivulet.probe;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * The objects of one recording that are followed, by weak references in a bounded number of places: nothing is kept alive.
 * The threads that allocate put objects in; the agent's watch looks what became of them, every 100 ms. It notices a
 * collection by a sentinel that nobody else refers to, and counts it at its next look, so that all references that the
 * collection has cleared are in the queue by then: some five collections a second are told apart.
 */
public final class Following {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int PLACES = 1 << 14;
    /** The objects of the recording that is on; null where none are followed. */
    private static volatile Following now;

    /** An object that is followed; except for its level and age, which the watch alone writes, it never changes. */
    static final class Tracked extends WeakReference<Object> {
        /** Address of the block of K_ words. */
        final long block;
        final long bytes;
        final long born;
        final int place;
        int level;
        int age;

        Tracked(Object made, ReferenceQueue<Object> gone, long block, long bytes, long born, int level, int place) {
            super(made, gone);
            this.block = block;
            this.bytes = bytes;
            this.born = born;
            this.level = level;
            this.place = place;
        }

        /** Adds so many times what the object stands for to a word for its age, and one for its bytes. */
        void add(int word, int times) {
            long n = (long) times << level, at = block + word + 8L * age;
            U.getAndAddLong(null, at, n);
            if (bytes != 0) U.getAndAddLong(null, at + Layout.K_LIVE_BYTES - Layout.K_LIVE, n * bytes);
        }
    }

    /** The time between two collections. */
    private static final class Moment {
        final long number;
        final WeakReference<Object> sentinel;
        /** The collection at its end was noticed. */
        volatile boolean over;

        /** The sentinel's queue is its own, and nobody takes it from there: it says for good that it was collected. */
        Moment(long number) {
            this.number = number;
            sentinel = new WeakReference<Object>(new Object(), new ReferenceQueue<Object>());
        }
    }

    private final ReferenceQueue<Object> gone = new ReferenceQueue<Object>();
    private final Tracked[] places;
    private final int epoch;
    private volatile Moment moment = new Moment(0);

    private Following(int epoch) {
        this.epoch = epoch;
        long most = Runtime.getRuntime().maxMemory() >>> 14; // less than a hundredth of the heap
        places = new Tracked[(int) Math.min(PLACES, Math.max(1 << 8, Long.highestOneBit(most)))];
    }

    // ---- the threads that allocate ----

    /** Follows an object if it is one of those; its type's node is looked for. */
    @DontInline
    static void follow(Object made, long token, int type, long bytes) {
        Following f = now;
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (f == null || made == null || tag == 0 || (token ^ tag) >>> Layout.INDEX_BITS != 0) return;
        long record = Records.current(s, tag), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
        if (current == 0 || f.epoch != U.getInt(s + Layout.H_EPOCH)) return;
        long index = Callees.find(s, current, type);
        if (index == 0) index = Callees.listed(s, current, type, type);
        if (index == 0) index = Unplaced.of(s, record, type);
        if (index == 0 || !Survivors.passes(s, s + index, bytes)) return;
        boolean events = U.getInt(record + Layout.R_RING) != 0; // whose stream says all that is charged
        if (!events) Clock.charge(s, record, current, Clock.precise(s, current));
        long n = 1L << Survivors.level(s, U.getLong(s + index + Layout.N_CALLS), bytes);
        long block = block(s, record, s + index);
        U.putInt(record + Layout.R_BUSY, (int) current);
        U.putLong(record + Layout.R_CURSOR, 0);
        try {
            n = block == 0 ? n : f.put(s, made, block, bytes, n);
        } catch (Throwable t) {
            // OutOfMemoryError, StackOverflowError: it is not followed
        }
        U.putLong(record + Layout.R_CURSOR, current);
        U.putInt(record + Layout.R_BUSY, 0);
        if (n != 0) U.getAndAddLong(null, s + Layout.H_UNTRACKED, n);
        if (!events) Clock.skip(s, record, Clock.precise(s, current));
    }

    /** Address of the block of a type's node, made if there is room, else 0. */
    private static long block(long s, long record, long node) {
        int block = U.getInt(node + Layout.N_CACHE);
        if (block == 0) {
            block = (int) Nodes.nodes(s, record, Layout.TRACK_NODES, false);
            if (block == 0) return 0;
            U.putIntRelease(null, node + Layout.N_CACHE, block);
        }
        return s + block;
    }

    /** Puts an object into a place; for how many there was none. Behind each place that is taken, it is given up or stands for twice as many. */
    private long put(long s, Object made, long block, long bytes, long n) {
        for (int tries = 0; tries < Layout.TRACK_TRIES; tries++, n <<= 1) {
            long at = U.getAndAddLong(null, s + Layout.H_PLACES, 1);
            int place = (int) at & places.length - 1;
            if (places[place] == null) {
                Tracked t = new Tracked(made, gone, block, bytes, born(), Long.numberOfTrailingZeros(n), place);
                U.getAndAddLong(null, block + Layout.K_TRACKED, 1);
                U.getAndAddLong(null, block + Layout.K_SQUARES, n * n);
                t.add(Layout.K_LIVE, 1);
                places[place] = t;
                return 0;
            }
            if ((Survivors.mix(at) & 1) == 0) return 0;
        }
        return n;
    }

    /** How many collections there were before this moment. */
    private long born() {
        for (;;) {
            Moment m = moment;
            long n = m.number + (m.over || m.sentinel.isEnqueued() ? 1 : 0);
            if (moment == m) return n;
        }
    }

    // ---- the watch ----

    /** Looks what became of objects, where the controller wants them followed; forgets them where it doesn't any more. */
    public static void look() {
        long s = U.getLong(Probe.CELL);
        if (s == Probe.empty()) return;
        U.compareAndSetInt(null, s + Layout.H_LOOKING, 0, 1); // before H_TRACK is read
        try {
            Following f = now;
            int epoch = U.getIntVolatile(null, s + Layout.H_EPOCH);
            if (U.getIntVolatile(null, s + Layout.H_TRACK) == 0) {
                now = null;
                U.putIntRelease(null, s + Layout.H_FOLLOWING, 0);
            } else if (f == null || f.epoch != epoch) {
                now = f = new Following(epoch);
                U.putIntRelease(null, s + Layout.H_FOLLOWING, f.places.length);
            } else {
                f.look(s);
            }
        } finally {
            U.putIntRelease(null, s + Layout.H_LOOKING, 0);
        }
    }

    /** Nothing is followed any more. */
    public static void forget() {
        now = null;
    }

    private void look(long s) {
        Moment m = moment;
        boolean collected = m.over;
        if (m.sentinel.isEnqueued()) m.over = true;
        for (Reference<?> r; (r = gone.poll()) != null; ) end((Tracked) r);
        if (collected) {
            moment = new Moment(m.number + 1);
            U.getAndAddLong(null, s + Layout.H_COLLECTIONS, 1);
        }
        int n = 0;
        for (Tracked t : places) {
            if (t == null) continue;
            n++;
            if (collected) grow(t, m.number + 1 - t.born);
        }
        if (n > places.length / 4 * 3) thin();
    }

    private void end(Tracked t) {
        if (places[t.place] != t) return; // it was given up
        places[t.place] = null;
        t.add(Layout.K_LIVE, -1);
        t.add(Layout.K_GONE, 1);
    }

    /** An object has survived so many collections. */
    private static void grow(Tracked t, long collections) {
        int age = collections <= 0 ? 0 : Math.min(64 - Long.numberOfLeadingZeros(collections), Layout.AGES - 1);
        if (age == t.age) return;
        if (t.age == 0) U.getAndAddLong(null, t.block + Layout.K_SURVIVED, 1);
        t.add(Layout.K_LIVE, -1);
        t.age = age;
        t.add(Layout.K_LIVE, 1);
    }

    /** There are few places left: half of the objects are given up, and the others stand for twice as many. */
    private void thin() {
        long random = Survivors.mix(System.nanoTime());
        for (int i = 0; i < places.length; i++) {
            Tracked t = places[i];
            if (t == null) continue;
            random = Survivors.mix(random + i);
            long square = 1L << 2 * t.level;
            if ((random & 1) == 0) {
                places[i] = null;
                t.add(Layout.K_LIVE, -1);
                U.getAndAddLong(null, t.block + Layout.K_SQUARES, -square);
                U.getAndAddLong(null, t.block + Layout.K_TRACKED, -1);
                if (t.age > 0) U.getAndAddLong(null, t.block + Layout.K_SURVIVED, -1);
            } else {
                U.getAndAddLong(null, t.block + Layout.K_SQUARES, 3 * square);
                t.add(Layout.K_LIVE, 1);
                t.level++;
            }
        }
    }
}
