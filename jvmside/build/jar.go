package main

import (
	"archive/zip"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
)

// manifest yields META-INF/MANIFEST.MF: the version first, as the JAR File
// Specification asks for, then the attributes in sorted order.
func manifest(attributes map[string]string) []byte {
	var b strings.Builder
	b.WriteString("Manifest-Version: 1.0\r\n")
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		b.WriteString(name + ": " + attributes[name] + "\r\n") // ours are far below the 72 bytes of a line
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// writeJar writes the manifest and then the entries, sorted by name.
func writeJar(w io.Writer, manifest []byte, entries map[string][]byte) error {
	zw := zip.NewWriter(w)
	if err := store(zw, "META-INF/MANIFEST.MF", manifest); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := store(zw, name, entries[name]); err != nil {
			return err
		}
	}
	return zw.Close()
}

// store writes one entry as it is, with its size and checksum in front and
// the first day that the format knows as its date.
func store(zw *zip.Writer, name string, data []byte) error {
	w, err := zw.CreateRaw(&zip.FileHeader{
		Name:               name,
		Method:             zip.Store,
		ModifiedDate:       1<<5 | 1, //nolint:staticcheck // 1980-01-01; CreateRaw does not look at Modified
		CRC32:              crc32.ChecksumIEEE(data),
		CompressedSize64:   uint64(len(data)),
		UncompressedSize64: uint64(len(data)),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
