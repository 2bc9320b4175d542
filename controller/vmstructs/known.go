package vmstructs

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostKnown bounds what [Invoked.Load] takes, in methods.
const mostKnown = 1 << 21

// Join adds what another reading of the same JVM has. Nobody else may use v meanwhile.
func (v *Invoked) Join(o *Invoked) {
	for class, methods := range o.classes {
		for m := range methods {
			v.add(class, m)
		}
	}
}

func (v *Invoked) add(class, method string) {
	names := v.classes[class]
	if names == nil {
		names = map[string]struct{}{}
		v.classes[class] = names
	}
	if _, ok := names[method]; !ok {
		names[method] = struct{}{}
		v.methods++
	}
}

// Save writes the methods in a form that [Invoked.Load] reads: compressed lines, the name
// of a class, then its methods, all separated by tabs. The error is that of writing.
func (v *Invoked) Save(w io.Writer) error {
	z := gzip.NewWriter(w)
	b := bufio.NewWriter(z)
	for class, methods := range v.classes {
		b.WriteString(class) //nolint:errcheck // Flush says it
		for m := range methods {
			b.WriteString("\t" + m) //nolint:errcheck // so
		}
		b.WriteString("\n") //nolint:errcheck // so
	}
	return errors.Join(b.Flush(), z.Close())
}

// Load adds what was saved. After an error, of reading or since it is damaged or too
// large, some of it may be there.
func (v *Invoked) Load(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	b := bufio.NewReader(z)
	for v.methods < mostKnown {
		line, err := b.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, m := range words[1:] {
			v.add(words[0], m)
		}
	}
	return fmt.Errorf("more than %d methods", mostKnown)
}
