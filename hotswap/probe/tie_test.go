package probe_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// tiedJava has a method that calls nothing of each type, several with more on
// the stack at a return than the result, and a hook that knows its tokens.
const tiedJava = `
public class Tied {
    static long aLong(long x) { for (int i = 0; i < 25; i++) x = x * 6364136223846793005L + (x >>> 17); return x; }
    static int anInt(int x) { return x < 0 ? x * 31 : x / 3; }
    static short aShort(int x) { return (short) (x * 31); }
    static byte aByte(int x) { return (byte) (x * 31); }
    static char aChar(int x) { return (char) (x * 31); }
    static boolean aBoolean(int x) { return (x & 5) == 4; }
    static float aFloat(float x) { return x / 0.0f; }
    static double aDouble(double x) { return x * 1e300 * 1e300 - x * 1e300 * 1e300; }
    static String aString(String s) { return s; }
    static void nothing() { }
    static long calls(long x) { nothing(); return x; }
    static int throwing(int x) { return 1 + 7 / x; }

    static long wrong, exits;
    static long enter(int id) { return id * 0x123456789L; }
    static void exit(long token) { exits++; if (token % 0x123456789L != 0) wrong++; }
    static void thrown(long token) { exit(token); }
    static void resync(long token) { }

    public static void main(String[] args) {
        long sum = 0, n = 0;
        for (int i = -30000; i < 30000; i++) {
            sum = sum * 31 + aLong(i) + anInt(i) + aShort(i) + aByte(i) + aChar(i) + (aBoolean(i) ? 1 : 0);
            sum = sum * 31 + Float.floatToIntBits(aFloat(i)) + Double.doubleToLongBits(aDouble(i * 0x1p-700)) + aString("four").length() + calls(i);
            try {
                sum += throwing(i % 100);
            } catch (ArithmeticException e) {
                n++;
            }
        }
        System.out.println("sum " + sum + " thrown " + n);
        System.err.println("exits " + exits + " wrong " + wrong);
    }
}
`

// TestTied looks at what the exits of methods that call nothing are given: the
// token that the entry gave, by way of what each returns. What a compiler or a processor computes later
// than at the return would be somebody else's time (bench:accuracy shows it).
func TestTied(t *testing.T) {
	dir := classtest.Compile(t, classtest.Home(t), map[string]string{"Tied.java": tiedJava}, "-source", "8", "-target", "8")
	c := classtest.ReadDir(t, dir)[0]
	hooks := probe.Hooks{Class: "Tied", Enter: "enter", Exit: "exit", Thrown: "thrown", Resync: "resync"}
	own := []string{"main", "<init>", "<clinit>", hooks.Enter, hooks.Exit, hooks.Thrown, hooks.Resync}
	res, err := injector(t, probe.Tokens(hooks)).Rewrite(c.Bytes, func(k probe.MethodKey) (int32, bool) {
		return 0x7000, !slices.Contains(own, k.Name)
	})
	if err != nil || len(res.Skipped) > 0 {
		t.Fatal(err, res.Skipped)
	}
	checked(t, c.Name, res.Bytes)
	var tied []string
	after, err := classfile.Parse(res.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range res.Rewritten {
		code, err := after.Code(after.Method(k.Name, k.Desc))
		if err != nil {
			t.Fatal(err)
		}
		var ops []classfile.Op
		for s := classfile.Scan(code.Bytecode); s.Next(); {
			ops = append(ops, s.Op)
		}
		if i := slices.Index(ops, classfile.OpLxor); i > 0 && ops[i+1] == classfile.OpLxor && ops[i+2].Info().Name[:6] == "lstore" {
			tied = append(tied, k.Name)
		}
	}
	if got, want := strings.Join(tied, " "), "aLong anInt aShort aByte aChar aBoolean aFloat aDouble throwing"; got != want {
		t.Errorf("tied are %s, want %s", got, want)
	}
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "Tied.class"), res.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		want, _ := runProgram(t, j.Home, "-cp", dir, "Tied")
		for _, flags := range [][]string{{"-Xverify:all", "-Xbatch"}, {"-Xint"}, {"-XX:TieredStopAtLevel=1"}} {
			got, books := runProgram(t, j.Home, append(flags, "-cp", to, "Tied")...)
			if got != want || books != "exits 720000 wrong 0\n" {
				t.Errorf("%v: %s%swant %s", flags, got, books, want)
			}
		}
	})
}
