package cli

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

func TestDumpStacks(t *testing.T) {
	all := threads.Parse(`2026-11-24 10:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"main" #1 prio=5 os_prio=0 cpu=100.00ms elapsed=1.00s tid=0x00007f0000000001 nid=0x10 runnable  [0x00007f0000001000]
   java.lang.Thread.State: RUNNABLE
	at shop.Price.of(Price.java:12)
	at shop.Main.main(Main.java:3)

"left" #12 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f0000000002 nid=0x11 waiting for monitor entry  [0x00007f0000002000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at shop.Stock.take(Stock.java:40)
	- waiting to lock <0x00000000d6f01234> (a shop.Stock)
	at java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

`)
	d := &dumpSource{methods: map[stack.Method]*stack.Method{}, times: map[int]time.Duration{16: time.Second, 17: time.Second}}
	now := map[int]time.Duration{16: 1150 * time.Millisecond, 17: time.Second}
	got := d.stacks(all, now, 200*time.Millisecond, 9)
	if len(got) != 1 || got[0].Weight != 150e6 || got[0].State != stack.Running || got[0].Thread != "main" || len(got[0].Frames) != 2 {
		t.Fatalf("%+v", got)
	}
	if f := got[0].Frames[0]; *f.Method != (stack.Method{Class: "shop/Price", Name: "of"}) || f.Line != 12 {
		t.Errorf("%+v %+v", f, f.Method)
	}
	d.o.Wall = true
	got = d.stacks(all, now, 200*time.Millisecond, 9)
	if len(got) != 3 || got[1].Weight != 50e6 || got[2].State != stack.Blocked || got[2].Weight != 200e6 || got[2].Monitor != "shop/Stock" || got[2].Frames[1].Line != 840 {
		t.Errorf("%+v", got)
	}
}

// TestDumpsJVM samples a JVM by thread dumps.
func TestDumpsJVM(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Loop.java": `
public class Loop {
    static long sink;
    static void spin() { for (int i = 0; i < 1000; i++) sink += i; }
    public static void main(String[] args) { System.out.println("READY"); while (true) spin(); }
}`})
		p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Loop", nil, dir)
		p.WaitLine("READY")
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		d, err := openDumps(ctx, p.PID(), sampler.Options{Hz: 99}, errors.New("nothing else is possible"))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(ctx, func(batch []stack.Stack) {
			for _, s := range batch {
				if n := len(s.Frames); s.Thread == "main" && n > 0 && s.Frames[n-1].Method.Name == "main" && s.Frames[n-1].Method.Class == "Loop" {
					cancel()
				}
			}
		}); err != nil || ctx.Err() != context.Canceled {
			t.Errorf("no sample of the main thread: %v, %v", err, ctx.Err())
		}
		if st := d.Stats(); st.Source != "threaddump" || st.Hz != mostDumps || st.Samples == 0 || st.NoPerf == "" {
			t.Errorf("%+v", st)
		}
	})
}
