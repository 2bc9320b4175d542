package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLaps(t *testing.T) {
	if got := Laps("BARE 0 100 7\nPROF 0\nPROF 1 250 7\nPROF x\n", "PROF"); !slices.Equal(got, []float64{250}) {
		t.Errorf("got %v", got)
	}
}

func TestPrograms(t *testing.T) {
	var r ProgramRun
	if err := r.read("PID 7\nBARE 0 307\nBARE 1 290\nREADY\nDONE\nPOST 0 301\nSqlW n=2 setup=0.50s run=0.60s checksum=3e79 iter_ms: 900 310\n", false); err != nil {
		t.Fatal(err)
	}
	if r.checksum != "3e79" || !slices.Equal(r.Laps, []float64{900, 310}) || !slices.Equal(r.Bare, []float64{307, 290}) || !slices.Equal(r.Post, []float64{301}) {
		t.Errorf("%+v", r)
	}
	for cold, text := range map[bool]string{false: "PID 7\nREADY\nDONE\nJavacW n=1 checksum=3e79 iter_ms: 900\n", true: "PID 7\nREADY\n"} {
		if err := r.read(text, cold); err == nil {
			t.Errorf("no error without times: %s", text)
		}
	}
	if err := new(ProgramRun).read("PID 7\nREADY\nDONE\nJavacW n=1 checksum=3e79 iter_ms: 900\n", true); err != nil {
		t.Errorf("a cold one: %v", err)
	}
	if err := r.read("BARE 0 307\n", false); err == nil {
		t.Error("no error without a checksum")
	}
}

func TestMicros(t *testing.T) {
	var r MicroRun
	text := "TRUTH leafS 900 mid 20 total 920\nTRUTH leafS 950 mid 10 total 960\nCALL 1.5\nNANO 45.5\nBARE 0 1000\nREADY\nCOLD 0 9\nWARM 0 3000\nOUTSIDE 0 1500\nDONE\nPOST 0 1100\nNANO 44.25\nEND\n"
	if err := r.read(text); err != nil {
		t.Fatal(err)
	}
	r.Calls = 100
	if r.Nano != 44.25 || r.Call != 1.5 || r.Truth["leafS"] != 900 || r.Truth["mid"] != 10 || r.Cost() != 20 || r.Dormant() != 5 {
		t.Errorf("%+v, %v, %v", r, r.Cost(), r.Dormant())
	}
	if err := r.read(strings.ReplaceAll(text, "WARM", "-")); err == nil {
		t.Error("no error without recorded repetitions")
	}
}

func TestShopRate(t *testing.T) {
	text := "  12345 requests in 10.00s, 50.1MB read\nRequests/sec:   1234.50\n"
	if rate, n, err := shopRate(text); err != nil || rate != 1234.5 || n != 12345 {
		t.Errorf("%v, %v, %v", rate, n, err)
	}
	for _, bad := range []string{"", text + "  Non-2xx or 3xx responses: 3\n"} {
		if _, _, err := shopRate(bad); err == nil {
			t.Errorf("no error in %q", bad)
		}
	}
}

func TestTimed(t *testing.T) {
	mean, n, err := timed([]byte(`{"kind":"timing","methods":[{"count":2,"total_ns":1500000},{"count":2,"total_ns":500000}]}`))
	if err != nil || mean != 0.5 || n != 4 {
		t.Errorf("%v ms, %v invocations, %v", mean, n, err)
	}
	for _, bad := range []string{"", `{"methods":[]}`, `{"kind":"timing","methods":[{"count":0}]}`} {
		if _, _, err := timed([]byte(bad)); err == nil {
			t.Errorf("no error in %q", bad)
		}
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	read := func(text string) (*Report, error) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadReport(file)
	}
	tree := `{"method":"a.warm()V","calls":2,"self_ns":10,"error_ns":12,"measured_ns":12,"children":[
		{"method":"a.b(I)V","calls":4,"self_ns":5,"error_ns":8,"spread_ns":4,"children":[{"method":"a.b(J)V","calls":1,"self_ns":1,"error_ns":4,"spread_ns":1,"children":[]}]}]},{"method":"a.cold()V","calls":9,"children":[]}`
	r, err := read(`{"schema":1,"calls":16,"time":{"charged_ns":16},"calibration":{"inner_ns":2,"outer_ns":3},"flat":[{"method":"a.b(I)V","calls":4}],"tree":[` + tree + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Below("a.warm")
	if b := s.Methods["a.b"]; s.Calls != 7 || s.Charged != 16 || s.Error != 5+13 || b.Error != 5+5 || b.Spread != 5 || s.Raw != 12 || b.Calls != 5 || b.Self != 6 {
		t.Errorf("%+v, %+v", s, b)
	}
	if r.Calibrated() != 5 || r.Corrected() != nil || r.PerUnit(2)["a.b(I)V"] != 2 {
		t.Errorf("%v, %v, %v", r.Calibrated(), r.Corrected(), r.PerUnit(2))
	}
	r, err = read(`{"calls":1,"calibration":null,"time":{"charged_ns":null}}`)
	if err != nil || r.Corrected() == nil || !math.IsNaN(r.Calibrated()) {
		t.Errorf("%v: not corrected, yet no word of it", err)
	}
	if err := r.Exact(); err != nil {
		t.Error(err)
	}
	for _, inexact := range []string{`{"calls":1,"overflow":1}`, `{"calls":1,"lost":1}`, `{"calls":1,"incomplete":1}`} {
		if r, err := read(inexact); err != nil || r.Exact() == nil {
			t.Errorf("%s passes for exact, %v", inexact, err)
		}
	}
	for _, bad := range []string{`{"calls":0}`, `{`} {
		if _, err := read(bad); err == nil {
			t.Errorf("no error in %s", bad)
		}
	}
}

func TestResident(t *testing.T) {
	m, err := resident("Name:\tjava\nRssAnon:\t    2048 kB\nRssFile:\t  10 kB\nRssShmem:\t   512 kB\n")
	if err != nil || m != (Memory{2, 0.5}) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := resident("Name:\tjava\n"); err == nil {
		t.Error("memory of a process that has ended")
	}
}

func TestNumber(t *testing.T) {
	for want, v := range map[string]float64{"-": math.NaN(), "1.23": 1.234, "-0.50": -0.5, "12.3": 12.34, "12345": 12345.4} {
		if got := Number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
