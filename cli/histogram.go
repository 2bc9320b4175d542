package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A loaderCountJSON is what the instances of a loader's classes take.
type loaderCountJSON struct {
	Loader      string `json:"loader"` // its class and number; "" for the JVM's own
	Classes     int    `json:"classes"`
	Objects     int64  `json:"objects"`
	Bytes       int64  `json:"shallow_bytes"`
	MoreObjects int64  `json:"more_objects"`
	MoreBytes   int64  `json:"more_bytes"`
}

// severalLoaders stands for the loaders of a class that several of them have loaded: the JVM counts these together.
const severalLoaders = "(several loaders)"

// byLoader adds the classes up by their loaders, which are read from the JVM's memory: histograms have none.
func (j *histogramJSON) byLoader() {
	j.Notes = []string{}
	classes, err := vmstructs.Classes(j.PID)
	if err != nil {
		j.Notes = append(j.Notes, "class loaders can't be read from outside: "+oneLine(err.Error()))
		return
	}
	j.sumLoaders(classes)
}

func (j *histogramJSON) sumLoaders(classes []vmstructs.Class) {
	of := make(map[string]string, len(classes))
	for i := range classes {
		name := strings.ReplaceAll(classes[i].Name, "/", ".")
		loader := ""
		if l := classes[i].Loader; l.Number > 0 {
			loader = fmt.Sprintf("%s #%d", strings.ReplaceAll(l.Class, "/", "."), l.Number)
		}
		if was, twice := of[name]; twice && was != loader {
			loader = severalLoaders
		}
		of[name] = loader
	}
	at := map[string]int{}
	j.Loaders = []loaderCountJSON{}
	for i := range j.Classes {
		c := &j.Classes[i]
		name, _, _ := strings.Cut(c.Class, "[")
		c.Loader = of[name] // primitive types have the JVM's own
		k, ok := at[c.Loader]
		if !ok {
			k = len(j.Loaders)
			at[c.Loader] = k
			j.Loaders = append(j.Loaders, loaderCountJSON{Loader: c.Loader})
		}
		l := &j.Loaders[k]
		l.Classes, l.Objects, l.Bytes = l.Classes+1, l.Objects+c.Objects, l.Bytes+c.Bytes
		l.MoreObjects, l.MoreBytes = l.MoreObjects+c.MoreObjects, l.MoreBytes+c.MoreBytes
	}
	slices.SortStableFunc(j.Loaders, func(a, b loaderCountJSON) int {
		return cmp.Or(cmp.Compare(b.MoreBytes, a.MoreBytes), cmp.Compare(b.Bytes, a.Bytes))
	})
}

// grown puts the columns of a difference before a row.
func grown(row []string, bytes, objects int64) []string {
	return append([]string{signed(bytes, export.Bytes), signed(objects, export.Count)}, row...)
}

func writeHistogram(w io.Writer, j *histogramJSON, top int, two bool) error {
	if top == 0 {
		top = len(j.Classes)
	}
	rows := [][]string{{"BYTES", "OBJECTS", "CLASS"}}
	if two {
		rows = [][]string{{"MORE", "OBJECTS", "BYTES", "OBJECTS", "CLASS"}}
	}
	for _, c := range j.Classes[:min(top, len(j.Classes))] {
		row := []string{export.Bytes(c.Bytes), export.Count(c.Objects), c.Class}
		if two {
			row = grown(row, c.MoreBytes, c.MoreObjects)
		}
		rows = append(rows, row)
	}
	if _, err := fmt.Fprintf(w, "%s objects, %s\n", export.Count(j.Objects), export.Bytes(j.Bytes)); err != nil {
		return err
	}
	if err := writeRows(w, rows, tableWidth(w)); err != nil {
		return err
	}
	rows = [][]string{{"BYTES", "OBJECTS", "CLASSES", "LOADER"}}
	if two {
		rows = [][]string{{"MORE", "OBJECTS", "BYTES", "OBJECTS", "CLASSES", "LOADER"}}
	}
	for _, l := range j.Loaders[:min(top, len(j.Loaders))] {
		row := []string{export.Bytes(l.Bytes), export.Count(l.Objects), export.Count(int64(l.Classes)), cmp.Or(export.Clean(l.Loader), "the JVM's own")}
		if two {
			row = grown(row, l.MoreBytes, l.MoreObjects)
		}
		rows = append(rows, row)
	}
	if len(j.Loaders) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := writeRows(w, rows, tableWidth(w)); err != nil {
			return err
		}
	}
	for _, n := range j.Notes {
		if _, err := fmt.Fprintf(w, "\n%s\n", n); err != nil {
			return err
		}
	}
	return nil
}
