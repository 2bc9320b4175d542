package images

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// name returns the function that holds an address.
func (f *file) name(at uint64) string {
	if !f.named && f.elf != nil {
		f.named = true
		f.symbols = functions(f.elf)
		if f.elf.Section(".symtab") == nil {
			if d := f.debugFile(); d != nil {
				f.symbols = append(functions(d), f.symbols...)
				_ = d.Close() // it was only read
			}
		}
		slices.SortStableFunc(f.symbols, func(a, b symbol) int { return byAddress(a, b.at) })
	}
	i, found := slices.BinarySearchFunc(f.symbols, at, byAddress)
	if !found {
		i--
	}
	if i < 0 || f.symbols[i].size != 0 && at >= f.symbols[i].at+f.symbols[i].size {
		return ""
	}
	return demangle(f.symbols[i].name)
}

// functions are those of a file's tables of symbols, of which it may have two, one or none.
func functions(e *elf.File) []symbol {
	all, _ := e.Symbols() // without such a table there are none
	return append(those(all), dynamic(e)...)
}

// dynamic are the functions that other libraries see. Those without a size are not among them: what others don't see
// would go by their names.
func dynamic(e *elf.File) []symbol {
	all, _ := e.DynamicSymbols() // as above
	return slices.DeleteFunc(those(all), func(s symbol) bool { return s.size == 0 })
}

func those(all []elf.Symbol) (out []symbol) {
	for _, s := range all {
		if s.Info&0xF == uint8(elf.STT_FUNC) && s.Value != 0 {
			out = append(out, symbol{s.Value, s.Size, s.Name})
		}
	}
	return out
}

// debugFile opens the file that has the symbols which were taken out of this one, where
// distributions put it: by its build id, a note "GNU" of type 3.
func (f *file) debugFile() *elf.File {
	s := f.elf.Section(".note.gnu.build-id")
	const head, mostID = 16, 64
	if s == nil || s.Size < head || s.Size > head+mostID {
		return nil
	}
	p, err := s.Data()
	if err != nil || len(p) <= head+1 || binary.LittleEndian.Uint32(p[8:]) != 3 {
		return nil
	}
	id := p[head:]
	d, err := elf.Open(fmt.Sprintf("%s/usr/lib/debug/.build-id/%02x/%x.debug", f.root, id[0], id[1:]))
	if err != nil {
		return nil
	}
	return d
}
