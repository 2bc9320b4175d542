// Package images knows which files of machine code a process has mapped, how to leave the
// frames of that code, and what its functions are called. It is what an unwinder of Java code
// needs of native code.
//
// It reads the files as the process sees them (/proc/PID/root), each once, and the vdso from
// the process's memory. A process may map what it likes, and other files than it says: then
// frames are not found. An Images is not safe for concurrent use.
package images

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/cfi"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// A reader is the memory of the process.
type reader interface {
	Read(p []byte, at uint64) error
}

// Images are those of one process.
type Images struct {
	pid   int
	mem   reader
	maps  []mapping
	files map[string]*file // by path and inode
	rules map[uint64]rule
	read  int64 // when the mappings were read, as the user's clock has it
	every int64 // ns after which they are read again
	used  bool  // since they were read
	now   int64
}

// A mapping is executable memory.
type mapping struct {
	begin, end, offset uint64
	key, path          string
	bias               uint64 // address here minus that in the file
	file               *file
}

// A file is an ELF file; without what it lacks.
type file struct {
	loads   []elf.ProgHeader
	table   *cfi.Table
	elf     *elf.File
	root    string // the process's folder /
	symbols []symbol
	named   bool

	amd64          bool     // its code is x86-64
	looked, isBare bool     // see bare
	exported       []symbol // see exports
}

type symbol struct {
	at, size uint64
	name     string
}

// A rule is one that was looked up.
type rule struct {
	cfi.Rule
	ok bool
}

const (
	maxMappings = 1 << 16
	maxRules    = 1 << 18
	maxSection  = 64 << 20
	maxFiles    = 1 << 10
	rereadAfter = 100e6 // ns, where an address is in none
	rereadEach  = 2e9   // ns: a library may have taken the place of another
	mostReading = 500   // and so many times as long as reading takes, at the least
	maxVDSO     = 1 << 20
)

// New makes the images of a process, of which none is read yet.
func New(pid int, mem reader) *Images {
	return &Images{pid: pid, mem: mem, files: map[string]*file{}, rules: map[uint64]rule{}, read: -rereadAfter, every: rereadEach}
}

// Close closes the files.
func (m *Images) Close() {
	for _, f := range m.files {
		f.close()
	}
	clear(m.files)
	m.maps = nil
}

// Begin says what time it is, in nanoseconds. Mappings are read again, when an address is
// in none, no more often than each 100 ms; and while they are used, each two seconds, since a
// process may map other files to the same place.
func (m *Images) Begin(now int64) {
	m.now = now
	if m.used && now-m.read >= m.every {
		_ = m.readMaps() // where there are none any more, the process has ended
	}
}

// Step is for [unwinder.Native].
func (m *Images) Step(pc, sp, fp uint64, first bool, word func(uint64) (uint64, bool)) (s unwinder.NativeStep, ok bool) {
	defer func() { m.used = true }() // as in Name
	at := pc
	if !first && at > 0 {
		at-- // the call, which may be the function's last instruction
	}
	r := m.rule(at)
	if !r.ok {
		return m.leaveBare(pc, sp, fp, first, word)
	}
	if r.End {
		return unwinder.NativeStep{End: true}, true
	}
	base := sp
	if r.Base == cfi.FP {
		base = fp
	}
	frame := base + uint64(r.Offset)
	if r.PLT && pc&15 >= 11 {
		frame += 8
	}
	ret, ok := word(frame - 8)
	if !ok {
		return s, false
	}
	s = unwinder.NativeStep{PC: ret, SP: frame, FP: fp, End: ret == 0}
	if r.Saved {
		if s.FP, ok = word(frame + uint64(r.FP)); !ok {
			return s, false
		}
	}
	return s, true
}

// rule finds the rule for an address, and remembers it.
func (m *Images) rule(at uint64) rule {
	r, known := m.rules[at]
	if !known {
		r = m.find(at)
		if len(m.rules) > maxRules {
			clear(m.rules)
		}
		m.rules[at] = r
	}
	return r
}

func (m *Images) find(pc uint64) rule {
	g := m.mapping(pc)
	if g == nil {
		return rule{}
	}
	f := m.open(g)
	if f.table == nil {
		return rule{}
	}
	r, err := f.table.Find(pc - g.bias)
	return rule{r, err == nil}
}

// Name is for [unwinder.Native].
func (m *Images) Name(pc uint64) string {
	g := m.mapping(pc)
	m.used = true // after it may have read the mappings, which nobody has used then
	if g == nil {
		return ""
	}
	f := m.open(g)
	if name := f.name(pc - g.bias); name != "" {
		return name
	}
	return path.Base(g.path)
}

// mapping returns that which an address is in, which may be new.
func (m *Images) mapping(pc uint64) *mapping {
	for {
		if g := m.knownMapping(pc); g != nil {
			return g
		}
		if m.now-m.read < rereadAfter {
			return nil
		}
		if m.readMaps() != nil {
			return nil
		}
	}
}

// knownMapping is mapping without a look whether there are others: for words that need not be addresses.
func (m *Images) knownMapping(pc uint64) *mapping {
	i, found := slices.BinarySearchFunc(m.maps, pc, func(g mapping, pc uint64) int {
		switch {
		case g.end <= pc:
			return -1
		case g.begin > pc:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &m.maps[i]
}

// readMaps reads the mappings. If there are others than before, it forgets what rests on them, and
// the files that are mapped no more.
func (m *Images) readMaps() error {
	begun := time.Now()
	m.read, m.used = m.now, false
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", m.pid))
	if err != nil {
		return err
	}
	defer f.Close()
	var maps []mapping
	for s := bufio.NewScanner(f); s.Scan() && len(maps) < maxMappings; {
		if g, ok := parse(s.Text()); ok {
			maps = append(maps, g)
		}
	}
	m.every = max(rereadEach, mostReading*time.Since(begun).Nanoseconds())
	if slices.EqualFunc(m.maps, maps, mapping.same) {
		return nil
	}
	m.maps = maps
	clear(m.rules)
	there := make(map[string]bool, len(maps))
	for _, g := range maps {
		there[g.key] = true
	}
	for key, f := range m.files {
		if !there[key] {
			f.close()
			delete(m.files, key)
		}
	}
	return nil
}

// same reports whether another is the same mapping of the same file.
func (g mapping) same(o mapping) bool {
	return g.begin == o.begin && g.end == o.end && g.offset == o.offset && g.key == o.key
}

// parse takes an executable mapping of a file, or the vdso, from a line of /proc/PID/maps
// (proc_pid_maps(5)).
func parse(line string) (g mapping, ok bool) {
	w := strings.SplitN(line, " ", 6)
	if len(w) < 6 || len(w[1]) < 4 || w[1][2] != 'x' {
		return g, false
	}
	begin, end, ok := strings.Cut(w[0], "-")
	var err [3]error
	g.begin, err[0] = strconv.ParseUint(begin, 16, 64)
	g.end, err[1] = strconv.ParseUint(end, 16, 64)
	g.offset, err[2] = strconv.ParseUint(w[2], 16, 64)
	g.path = strings.TrimLeft(w[5], " ")
	g.key = g.path + " " + w[3] + " " + w[4]
	return g, ok && err[0] == nil && err[1] == nil && err[2] == nil && g.begin < g.end && (strings.HasPrefix(g.path, "/") || g.path == "[vdso]")
}

// open reads the file of a mapping, if that is not known yet.
func (m *Images) open(g *mapping) *file {
	if g.file != nil {
		return g.file
	}
	f := m.files[g.key]
	if f == nil {
		f = &file{root: fmt.Sprintf("/proc/%d/root", m.pid)}
		if len(m.files) < maxFiles {
			m.files[g.key] = f
			f.read(m.source(g))
		}
	}
	g.file, g.bias = f, g.begin
	for _, l := range f.loads {
		if l.Flags&elf.PF_X != 0 && g.offset >= l.Off&^0xFFF && g.offset < l.Off+l.Filesz {
			g.bias = g.begin - g.offset + l.Off - l.Vaddr
			break
		}
	}
	return f
}

func (f *file) close() {
	if f.elf != nil {
		_ = f.elf.Close() // it was only read
	}
}

// source opens the bytes of a mapping's file.
func (m *Images) source(g *mapping) *elf.File {
	if g.path == "[vdso]" {
		p := make([]byte, min(g.end-g.begin, maxVDSO))
		if m.mem.Read(p, g.begin) != nil {
			return nil
		}
		e, _ := elf.NewFile(bytes.NewReader(p))
		return e
	}
	// The file itself, which may have been replaced by another of that name.
	if e, err := elf.Open(fmt.Sprintf("/proc/%d/map_files/%x-%x", m.pid, g.begin, g.end)); err == nil {
		return e
	}
	if strings.HasSuffix(g.path, " (deleted)") {
		return nil
	}
	e, err := elf.Open(fmt.Sprintf("/proc/%d/root%s", m.pid, g.path))
	if err != nil {
		return nil
	}
	return e
}

// read takes what is needed from a file.
func (f *file) read(e *elf.File) {
	if e == nil {
		return
	}
	f.elf, f.amd64 = e, e.Machine == elf.EM_X86_64
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD {
			f.loads = append(f.loads, p.ProgHeader)
		}
	}
	hdr, frames := e.Section(".eh_frame_hdr"), e.Section(".eh_frame")
	if hdr == nil || frames == nil || !f.amd64 || hdr.Size > maxSection || frames.Size > maxSection {
		return
	}
	p, err := hdr.Data()
	if err != nil {
		return
	}
	q, err := frames.Data()
	if err != nil {
		return
	}
	if t, err := cfi.New(p, hdr.Addr, q, frames.Addr); err == nil {
		f.table = t
	}
}
