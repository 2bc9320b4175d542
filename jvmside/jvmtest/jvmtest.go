// Package jvmtest gives tests real JVMs: the JDKs of this machine, Java
// sources compiled for the test, processes that are watched line by line and
// gone when the test ends, the bench programs, and cases in txtar files that
// carry their programs and answers. Only tests import it.
//
// Where something is not there the test is skipped with a reason of a fixed
// form ("JDK 21 not installed", "workload h2 not fetched"), which CI compares
// with a list. All functions may be called from parallel tests.
package jvmtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A JDK is a Java installation of this machine.
type JDK = jdk.JDK

// Versions are the feature versions that Rivulet is tested on: each with long
// support, and the newest.
var Versions = []int{8, 11, 17, 21, 25}

// JDKs returns the installed JDKs of [Versions], lowest first. It skips the
// test if there is none; a test that wants each absence to be seen runs a
// subtest for each version with [Need] instead: see [Each].
func JDKs(t testing.TB) []JDK {
	t.Helper()
	var found []JDK
	for _, v := range Versions {
		if j, ok := jdk.Find(v); ok {
			found = append(found, j)
		}
	}
	if len(found) == 0 {
		t.Skip("no JDK installed")
	}
	return found
}

// Need returns the JDK of that version, or skips the test.
func Need(t testing.TB, version int) JDK {
	t.Helper()
	j, ok := jdk.Find(version)
	if !ok {
		t.Skipf("JDK %d not installed", version)
	}
	return j
}

// Any returns a JDK with a compiler, the nearest to 17 first, or skips the
// test: for tests to which the version does not matter.
func Any(t testing.TB) JDK {
	t.Helper()
	for _, v := range []int{17, 21, 25, 11, 8} {
		if j, ok := jdk.Find(v); ok && j.HasJavac() {
			return j
		}
	}
	t.Skip("no JDK installed")
	return JDK{}
}

// Each runs a subtest "jdkN" for each of the versions, all of [Versions] if
// none is named; those not installed are skipped there. Of more than two it takes two,
// which goes by the test's name, so that all tests together are run on all of them;
// where [Whole] holds, it takes all.
func Each(t *testing.T, test func(t *testing.T, j JDK), versions ...int) {
	t.Helper()
	each(t, 2, test, versions)
}

// One is [Each] for tests that take long: of the versions it takes one.
func One(t *testing.T, test func(t *testing.T, j JDK), versions ...int) {
	t.Helper()
	each(t, 1, test, versions)
}

func each(t *testing.T, most int, test func(t *testing.T, j JDK), versions []int) {
	t.Helper()
	if versions == nil {
		versions = Versions
	}
	if !Whole() {
		versions = some(versions, most, t.Name())
	}
	for _, v := range versions {
		t.Run(fmt.Sprintf("jdk%d", v), func(t *testing.T) { test(t, Need(t, v)) })
	}
}

// Whole tells whether tests take all that they are for, as "test:jdks" wants it: each JDK,
// and each combination where otherwise a few stand for the others.
func Whole() bool { return os.Getenv("RIVULET_JDKS") == "all" }

// some takes n of the versions at the most, which goes by a name.
func some(versions []int, n int, name string) []int {
	h := fnv.New64a()
	h.Write([]byte(name)) //nolint:errcheck // never fails
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := slices.Clone(versions)
	for len(out) > n {
		i := r.IntN(len(out))
		out = slices.Delete(out, i, i+1)
	}
	return out
}
