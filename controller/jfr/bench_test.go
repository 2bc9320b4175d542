package jfr_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// BenchmarkRead reads a recording that RIVULET_JFR names, or a made-up one: its events
// one after the other, and as JSON.
func BenchmarkRead(b *testing.B) {
	one := small(true)
	whole := bytes.Repeat(one, 1000)
	if name := os.Getenv("RIVULET_JFR"); name != "" {
		var err error
		if whole, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	for name, w := range map[string]func() func(*jfr.Event) error{
		"events": func() func(*jfr.Event) error { return func(*jfr.Event) error { return nil } },
		"json":   func() func(*jfr.Event) error { return jfr.NewJSONWriter(io.Discard).Event },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				r := jfr.NewReader(bytes.NewReader(whole), int64(len(whole)), jfr.Options{})
				if err := jfr.Each(context.Background(), r, nil, w()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
