// Package forms holds exports against what the tools that read them say of their
// own formats.
package forms

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestSpeedscope has an export be valid by speedscope's own schema, as of its
// release 1.25.0 (dist/release/file-format-schema.json), and damaged ones not.
func TestSpeedscope(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/speedscope.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("../../controller/export/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := export.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Speedscope(&out); err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	text := out.String()
	if err := check(text); err != nil {
		t.Error(err)
	}
	for old, with := range map[string]string{`"type":"O"`: `"type":"X"`, `"unit":"nanoseconds"`: `"unit":"ns"`, `"line":57`: `"line":"57"`, `"at":0`: `"at":"0"`, `"endValue"`: `"end"`} {
		damaged := strings.Replace(text, old, with, 1)
		if damaged == text || check(damaged) == nil {
			t.Errorf("%s for %s is valid, too, or there is none", with, old)
		}
	}
}
