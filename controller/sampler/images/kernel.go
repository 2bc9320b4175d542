package images

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
)

// Kernel knows what the functions of the running kernel are called, by /proc/kallsyms. Without
// privilege (kernel.kptr_restrict) that has no addresses: then no function has a name. A Kernel is
// not safe for concurrent use. The zero value is ready; it reads the list, some 50 ms, at the first name
// that is asked for.
type Kernel struct {
	read    bool
	symbols []symbol
	names   map[uint64]string
}

const (
	maxKernelSymbols = 1 << 20
	maxKernelNames   = 1 << 16
	maxKernelSize    = 4 << 20 // of a function; what lies farther behind a symbol is none of it
)

// UnknownKernel is the name of a function of the kernel that can't be named.
const UnknownKernel = "[kernel]"

// Name is the function that holds an address, [UnknownKernel] if that can't be said.
func (k *Kernel) Name(at uint64) string {
	if name, ok := k.names[at]; ok {
		return name
	}
	if !k.read {
		k.read = true
		if f, err := os.Open("/proc/kallsyms"); err == nil {
			k.symbols = kernelSymbols(f)
			f.Close()
		}
	}
	name := UnknownKernel
	i, found := slices.BinarySearchFunc(k.symbols, at, byAddress)
	if !found {
		i--
	}
	if i >= 0 && at-k.symbols[i].at < maxKernelSize {
		name = k.symbols[i].name
	}
	if k.names == nil || len(k.names) >= maxKernelNames {
		k.names = map[uint64]string{}
	}
	k.names[at] = name
	return name
}

// kernelSymbols reads the functions of lines such as "ffffffff81000000 T _stext", with the module in
// brackets behind a tab if there is one. Of several at one address the first counts that is
// global.
func kernelSymbols(r io.Reader) []symbol {
	type listed struct {
		symbol
		global bool
	}
	var all []listed
	for s := bufio.NewScanner(r); s.Scan() && len(all) < maxKernelSymbols; {
		at, rest, ok1 := bytes.Cut(s.Bytes(), []byte(" "))
		kind, name, ok2 := bytes.Cut(rest, []byte(" "))
		if !ok1 || !ok2 || len(kind) != 1 || !bytes.ContainsAny(kind, "tTwW") {
			continue
		}
		name, _, _ = bytes.Cut(name, []byte("\t"))
		v, err := strconv.ParseUint(string(at), 16, 64)
		if err != nil || v == 0 || len(name) == 0 {
			continue
		}
		all = append(all, listed{symbol{at: v, name: string(name)}, kind[0] == 'T'})
	}
	slices.SortStableFunc(all, func(a, b listed) int {
		switch {
		case a.at != b.at:
			return byAddress(a.symbol, b.at)
		case a.global == b.global:
			return 0
		case a.global:
			return -1
		}
		return 1
	})
	var out []symbol
	for _, s := range all {
		if len(out) == 0 || out[len(out)-1].at != s.at {
			out = append(out, s.symbol)
		}
	}
	return out
}

func byAddress(s symbol, at uint64) int {
	switch {
	case s.at < at:
		return -1
	case s.at > at:
		return 1
	}
	return 0
}
