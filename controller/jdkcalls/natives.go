package jdkcalls

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"strings"
)

// Words returns the names in a library's read-only data that are ended by a zero, as
// JNI's GetMethodID wants them.
func Words(r io.ReaderAt) (words []string, err error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("no library: %w", err)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || !strings.HasPrefix(s.Name, ".rodata") {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		words = appendWords(words, b)
	}
	return words, nil
}

func appendWords(words []string, b []byte) []string {
	for {
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			return words
		}
		from := end
		for from > 0 && end-from < longestName && inName(b[from-1]) {
			from--
		}
		if from < end {
			words = append(words, string(b[from:end]))
		}
		b = b[end+1:]
	}
}

// inName reports whether a byte can be in a method's name as the JDK has them.
func inName(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
