package jvmside

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A Bundle is what a session puts into its room in the target.
type Bundle struct {
	// Boot is a jar with the class Boot1 alone, for "load instrument" and
	// -javaagent. It does not depend on the version.
	Boot []byte
	// Agent is the file agent.bin, whose form Boot1.java documents.
	Agent []byte
	// Sample is the class with which the cost of a probe is measured, as it is
	// in agent.bin.
	Sample []byte
	// Probe is the internal name of the probe class in the target. It
	// carries a digest of everything that the target runs, so that two
	// versions never meet.
	Probe string
}

const manifest = "Manifest-Version: 1.0\r\nAgent-Class: rivulet.boot.Boot1\r\nPremain-Class: rivulet.boot.Boot1\r\n" +
	"Can-Redefine-Classes: true\r\nCan-Retransform-Classes: true\r\n\r\n"

// Names that differ between sun.misc.Unsafe of JDK 8 and jdk.internal.misc.Unsafe.
var jdk8Names = map[string]string{
	"compareAndSetInt":  "compareAndSwapInt",
	"compareAndSetLong": "compareAndSwapLong",
	"putIntRelease":     "putOrderedInt",
	"putLongRelease":    "putOrderedLong",
}

// NewBundle makes the bundle from the embedded classes: it gives the probe
// class its name in the target and binds the stubs of package
// rivulet.probe.stub to what they stand for, once for JDK 8 and once for all
// later ones.
func NewBundle() (*Bundle, error) {
	classes, err := Classes()
	if err != nil {
		return nil, err
	}
	b := &Bundle{Probe: "java/lang/Rivulet$" + digest(classes)}
	if b.Boot, err = bootJar(classes); err != nil {
		return nil, err
	}
	beside := parts(classes)
	var body []byte
	n := uint32(0)
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		if strings.HasPrefix(name, "rivulet/boot/") || name == "rivulet/probe/Layout" {
			continue
		}
		for _, v := range []struct {
			low, high uint8
			rename    func(string) string
		}{{8, 8, b.rename(true, beside)}, {9, 255, b.rename(false, beside)}} {
			class, err := classfile.RenameUTF8(classes[name], v.rename)
			if err != nil {
				return nil, fmt.Errorf("class %s of the agent: %w", name, err)
			}
			if name == "rivulet/agent/Sample" {
				b.Sample = class // the same for all
			}
			binary := strings.ReplaceAll(v.rename(name), "/", ".")
			body = append(body, v.low, v.high)
			body = appendUTF(body, binary)
			body = appendU32(body, uint32(len(class)))
			body = append(body, class...)
			n++
		}
	}
	b.Agent = append(appendU32(nil, n), body...)
	return b, nil
}

// parts are the classes beside the probe class that are defined where it is: all of its
// package but Layout, whose constants are in the code of those that use them.
func parts(classes map[string][]byte) []string {
	var names []string
	for name := range classes {
		if p, ok := strings.CutPrefix(name, "rivulet/probe/"); ok && p != "Probe" && p != "Layout" {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	return names
}

// Part is the name in the target, slashed, of a class beside the probe class.
func (b *Bundle) Part(name string) string { return b.Probe + "$" + name }

func (b *Bundle) rename(jdk8 bool, parts []string) func(string) string {
	unsafe, annotations := "jdk/internal/misc/Unsafe", "jdk/internal/vm/annotation/"
	if jdk8 {
		unsafe, annotations = "sun/misc/Unsafe", "java/lang/invoke/"
	}
	pairs := []string{
		"rivulet/probe/stub/Unsafe", unsafe,
		"rivulet/probe/stub/Continuation", "jdk/internal/vm/Continuation",
		"rivulet/probe/stub/", annotations,
		"rivulet/probe/Probe", b.Probe,
		"rivulet.probe.Probe", strings.ReplaceAll(b.Probe, "/", "."),
	}
	for _, p := range parts {
		pairs = append(pairs, "rivulet/probe/"+p, b.Part(p), "rivulet.probe."+p, strings.ReplaceAll(b.Part(p), "/", "."))
	}
	r := strings.NewReplacer(pairs...)
	return func(s string) string {
		if jdk8 {
			if n, ok := jdk8Names[s]; ok {
				return n
			}
		}
		return r.Replace(s)
	}
}

func digest(classes map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		fmt.Fprintf(h, "%s %d\n", name, len(classes[name]))
		h.Write(classes[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

func bootJar(classes map[string][]byte) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	add := func(name string, b []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	if err := add("META-INF/MANIFEST.MF", []byte(manifest)); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		if strings.HasPrefix(name, "rivulet/boot/") {
			if err := add(name+".class", classes[name]); err != nil {
				return nil, err
			}
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func appendU32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }

func appendUTF(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}
