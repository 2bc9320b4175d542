package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Counts that were found by other means (bench/README.md) and that every
// scheme has to report.
const (
	sunflowRoots = 35_557
	sunflowCalls = 113_580_477
)

// A report is what is compared of "rivulet profile --format json".
type report struct {
	Calls       int64 `json:"calls"`
	Invocations int64 `json:"root_invocations"`
	Incomplete  int64 `json:"incomplete"`
	Overflow    int64 `json:"overflow"`
	Methods     struct {
		Instrumented, Called int
	}
	Redefinition struct {
		Batches, Classes int
		MS               float64 `json:"ms"`
		Pause            float64 `json:"longest_pause_ms"`
	}
	Flat []struct {
		Method, Loader string
		Calls          int64
	}
}

// A total is how often a method was called.
type total map[string]int64

func (r *report) totals() total {
	out := total{}
	for _, f := range r.Flat {
		out[f.Method] += f.Calls
	}
	return out
}

// exact runs programs whose calls repeat, under every scheme, and fails if
// one of them counts other calls than the first.
func (t *tool) exact([]string) error {
	programs := []program{
		{name: "sunflow", args: []string{"128", "1"}, count: "1", partial: "org.sunflow.core.LightServer.initLightSamples"},
		{name: "h2", args: []string{"h2", "2000"}, count: "2", partial: "org.h2.command.dml.Update.update", whole: "wl.SqlW.iteration"},
		{name: "xalan", args: []string{"org.apache.xalan.processor.TransformerFactoryImpl", "1"}, count: "10", partial: "org.apache.xalan.templates.FuncFormatNumb.execute"},
	}
	page := []string{
		"<!-- Written by \"go tool task exact\". Do not edit. -->", "", "# Exact counts of real programs", "",
		"Every scheme must count the same calls of the same methods, and leave the program's checksum as a bare run has it. JDK of the machine, single runs; calls per method are compared one by one.", "",
		"| program | root | scheme | root calls | calls | methods instrumented | called | batches | longest pause ms | other counts than A |",
		"|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
	}
	var wrong []error
	for _, p := range programs {
		sum, err := t.bare(p)
		if err != nil {
			return err
		}
		for _, what := range []string{"partial", "whole"} {
			root := map[string]string{"partial": p.partial, "whole": p.whole}[what]
			if root == "" {
				continue
			}
			var first total
			for _, s := range []string{"A", "B", "C"} {
				r := run{p, what, root, s}
				log.Print(r.name())
				got, err := t.counted(r, sum)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name(), err)
				}
				if first == nil {
					first = got.totals()
				}
				differ := differences(first, got.totals())
				row := fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %d | %.1f | %d |", p.name, root, s, got.Invocations, got.Calls,
					got.Methods.Instrumented, got.Methods.Called, got.Redefinition.Batches, got.Redefinition.Pause, len(differ))
				log.Print(row)
				page = append(page, row)
				if err := judge(p, got, differ); err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %w", r.name(), err))
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join("docs", "figures", "exact.md"), []byte(strings.Join(page, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	return errors.Join(wrong...)
}

func judge(p program, r *report, differ []string) error {
	switch {
	case r.Incomplete+r.Overflow != 0:
		return fmt.Errorf("incomplete %d, overflow %d", r.Incomplete, r.Overflow)
	case len(differ) > 0:
		return fmt.Errorf("%d methods have other counts: %s", len(differ), strings.Join(differ[:min(5, len(differ))], "; "))
	case p.name == "sunflow" && (r.Invocations != sunflowRoots || r.Calls != sunflowCalls):
		return fmt.Errorf("%d root calls and %d calls, want %d and %d", r.Invocations, r.Calls, sunflowRoots, sunflowCalls)
	}
	return nil
}

// counted profiles a program and returns the report.
func (t *tool) counted(r run, sum string) (*report, error) {
	_, out, err := t.profile(r, sum, "--format", "json", "--depth", "1")
	if err != nil {
		return nil, err
	}
	var got report
	return &got, json.Unmarshal([]byte(out), &got)
}

// differences lists the methods whose counts are not equal, as "method: 1, 2".
func differences(a, b total) (out []string) {
	for _, m := range slices.Sorted(maps.Keys(a)) {
		if a[m] != b[m] {
			out = append(out, fmt.Sprintf("%s: %d, %d", m, a[m], b[m]))
		}
	}
	for _, m := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[m]; !ok {
			out = append(out, fmt.Sprintf("%s: 0, %d", m, b[m]))
		}
	}
	return out
}
