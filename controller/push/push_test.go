package push_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/push"
)

var ended = time.Unix(1_700_000_010, 0)

func origin() push.Origin {
	return push.Origin{Service: "orders", Host: "h1", Labels: map[string]string{"env": "prod", "k8s.pod": "p-1"}, Ended: ended}
}

// saved is a report of export's tests, as a file has it.
func saved(t *testing.T, name string) *export.Report {
	t.Helper()
	b, err := os.ReadFile("../export/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := export.ReadJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sums are the values of each sample type in all.
func sums(d *otlp.ProfilesData) map[string]int64 {
	out := map[string]int64{}
	text := d.Dictionary.StringTable
	for _, p := range d.ResourceProfiles[0].ScopeProfiles[0].Profiles {
		for _, s := range p.Samples {
			out[text[p.SampleType.TypeStrindex]+"/"+text[p.SampleType.UnitStrindex]] += s.Values[0]
		}
	}
	return out
}

// TestOTLP compares with the pprof form of the same report: all that is in one is in the other.
func TestOTLP(t *testing.T) {
	for _, name := range []string{"report.json", "sample.json", "sample-wall.json", "filter.json", "empty.json"} {
		r := saved(t, name)
		d, err := push.OTLP(r, origin())
		if err != nil {
			t.Fatal(name, err)
		}
		var b bytes.Buffer
		if err := r.Pprof(&b); err != nil {
			t.Fatal(name, err)
		}
		p, err := profile.Parse(&b)
		if err != nil {
			t.Fatal(name, err)
		}
		got := sums(d)
		profiles := d.ResourceProfiles[0].ScopeProfiles[0].Profiles
		if len(profiles) != len(p.SampleType) {
			t.Errorf("%s: %d profiles, want %d", name, len(profiles), len(p.SampleType))
		}
		for i, kind := range p.SampleType {
			var want int64
			for _, s := range p.Sample {
				want += s.Value[i]
			}
			if key := kind.Type + "/" + kind.Unit; got[key] != want {
				t.Errorf("%s: %s is %d, want %d", name, key, got[key], want)
			}
			if one := profiles[i]; one.Period != p.Period || one.DurationNano != uint64(r.Time) || one.TimeUnixNano != uint64(ended.Add(-r.Time).UnixNano()) || len(one.ProfileId) != 16 {
				t.Errorf("%s: period %d, %d ns from %d, id %x", name, one.Period, one.DurationNano, one.TimeUnixNano, one.ProfileId)
			}
		}
		checkTables(t, name, d)
		again, _ := push.OTLP(r, origin())
		if !proto.Equal(d, again) {
			t.Errorf("%s: equal reports give different messages", name)
		}
	}
}

// checkTables wants zero values at the head of each table, and each index inside its table.
func checkTables(t *testing.T, name string, d *otlp.ProfilesData) {
	t.Helper()
	dict := d.Dictionary
	inside := func(what string, i int32, n int) {
		if i < 0 || int(i) >= n {
			t.Errorf("%s: %s %d of %d", name, what, i, n)
		}
	}
	for what, m := range map[string]proto.Message{"mapping": dict.MappingTable[0], "location": dict.LocationTable[0], "function": dict.FunctionTable[0], "link": dict.LinkTable[0], "attribute": dict.AttributeTable[0], "stack": dict.StackTable[0]} {
		if proto.Size(m) != 0 {
			t.Errorf("%s: the first %s is not zero", name, what)
		}
	}
	if dict.StringTable[0] != "" {
		t.Errorf("%s: the first string is %q", name, dict.StringTable[0])
	}
	for _, f := range dict.FunctionTable {
		inside("name", f.NameStrindex, len(dict.StringTable))
		inside("file", f.FilenameStrindex, len(dict.StringTable))
	}
	for _, l := range dict.LocationTable {
		for _, line := range l.Lines {
			inside("function", line.FunctionIndex, len(dict.FunctionTable))
		}
	}
	for _, s := range dict.StackTable {
		for _, l := range s.LocationIndices {
			inside("location", l, len(dict.LocationTable))
		}
	}
	for _, p := range d.ResourceProfiles[0].ScopeProfiles[0].Profiles {
		for _, s := range p.Samples {
			inside("stack", s.StackIndex, len(dict.StackTable))
			for _, a := range s.AttributeIndices {
				inside("attribute", a, len(dict.AttributeTable))
			}
		}
	}
}

// A receiver keeps what it was sent, and answers as it is told.
type receiver struct {
	*httptest.Server
	bodies  [][]byte
	headers []http.Header
	paths   []string
}

func receive(t *testing.T, answer func(n int, w http.ResponseWriter)) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			t.Error(err)
			return
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		r.bodies, r.headers, r.paths = append(r.bodies, b), append(r.headers, req.Header), append(r.paths, req.URL.Path)
		answer(len(r.bodies), w)
	}))
	t.Cleanup(r.Close)
	return r
}

func TestSendOTLP(t *testing.T) {
	s := receive(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	c := push.NewClient(http.Header{"Authorization": {"Bearer x"}})
	r := saved(t, "report.json")
	if err := c.OTLP(context.Background(), s.URL+"/tenant/", r, origin()); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 2 || !bytes.Equal(s.bodies[0], s.bodies[1]) {
		t.Fatalf("%d requests; the first one was refused for now", len(s.bodies))
	}
	if h := s.headers[1]; h.Get("Authorization") != "Bearer x" || h.Get("Content-Type") != "application/x-protobuf" || s.paths[1] != "/tenant/v1development/profiles" {
		t.Errorf("%s %v", s.paths[1], h)
	}
	var got otlp.ProfilesData
	if err := proto.Unmarshal(s.bodies[1], &got); err != nil {
		t.Fatal(err)
	}
	want, _ := push.OTLP(r, origin())
	if !proto.Equal(&got, want) {
		t.Error("what arrived is not what was sent")
	}
}

func TestRefused(t *testing.T) {
	var part []byte
	part = protowire.AppendTag(part, 1, protowire.VarintType)
	part = protowire.AppendVarint(part, 2)
	part = protowire.AppendTag(part, 2, protowire.BytesType)
	part = protowire.AppendString(part, "too old")
	whole := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part)
	for _, c := range []struct {
		code   int
		answer string
		want   string
	}{
		{200, string(whole), "2 profiles, too old"},
		{400, "bad \x1b[31mstack", "400 Bad Request bad  [31mstack"},
		{401, "", "--header"},
		{404, "", "service.profilesSupport"},
		{307, "", "redirects are not followed"},
	} {
		s := receive(t, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.code)
			io.WriteString(w, c.answer)
		})
		err := push.NewClient(nil).OTLP(context.Background(), s.URL, saved(t, "report.json"), origin())
		if !errors.Is(err, push.ErrRefused) || !strings.Contains(err.Error(), c.want) || len(s.bodies) != 1 {
			t.Errorf("%d: %d requests, %v", c.code, len(s.bodies), err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := push.NewClient(nil).OTLP(ctx, "http://127.0.0.1:1", saved(t, "report.json"), origin()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPyroscope(t *testing.T) {
	s := receive(t, func(_ int, w http.ResponseWriter) { io.WriteString(w, "{}") })
	for name, want := range map[string]string{"report.json": "rivulet", "sample.json": "process_cpu", "sample-wall.json": "wall"} {
		s.bodies = nil
		if err := push.NewClient(nil).Pyroscope(context.Background(), s.URL, saved(t, name), origin()); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Series []struct {
				Labels  []struct{ Name, Value string }
				Samples []struct{ RawProfile []byte }
			}
		}
		if err := json.Unmarshal(s.bodies[0], &got); err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{}
		for _, l := range got.Series[0].Labels {
			labels[l.Name] = l.Value
		}
		if labels["__name__"] != want || labels["service_name"] != "orders" || labels["k8s_pod"] != "p-1" || labels["env"] != "prod" {
			t.Errorf("%s: %v", name, labels)
		}
		p, err := profile.ParseData(got.Series[0].Samples[0].RawProfile)
		if err != nil || p.TimeNanos == 0 || len(p.Sample) == 0 {
			t.Errorf("%s: %v %v", name, p, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []string{"", "127.0.0.1:4318", "ftp://h", "http://", "http://h/?a=b", "http://%zz"} {
		if push.Check(bad, true) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"http://127.0.0.1:4318", "https://h/otlp"} {
		if err := push.Check(good, true); err != nil {
			t.Error(good, err)
		}
	}
}

// TestLinks: each root call that was part of a span has a profile of its own, in its place in
// time, whose samples are linked with the span; the recording's profiles are as without.
func TestLinks(t *testing.T) {
	r := saved(t, "report.json")
	bare, err := push.OTLP(r, origin())
	if err != nil {
		t.Fatal(err)
	}
	span, ok := event.ParseSpan("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
	if !ok {
		t.Fatal("ids")
	}
	thread := *r.Tree.Threads[0]
	thread.Roots = thread.Roots[:1]
	r.Slowest = &export.Slowest{Asked: 2, Of: 2, Invocations: []export.Invocation{
		{Thread: &thread, Start: 2e9, Took: 3e6, Suspended: 1e6, Span: span},
		{Thread: &thread, Start: 5e9, Took: 3e6},
	}}
	d, err := push.OTLP(r, origin())
	if err != nil {
		t.Fatal(err)
	}
	checkTables(t, "linked", d)
	before, after := bare.ResourceProfiles[0].ScopeProfiles[0].Profiles, d.ResourceProfiles[0].ScopeProfiles[0].Profiles
	if len(after) != len(before)+1 {
		t.Fatalf("%d profiles with a span, %d without", len(after), len(before))
	}
	one, text := after[len(before)], d.Dictionary.StringTable
	var sum int64
	for _, s := range one.Samples {
		l := d.Dictionary.LinkTable[s.LinkIndex]
		if !bytes.Equal(l.TraceId, span.Trace[:]) || !bytes.Equal(l.SpanId, span.ID[:]) {
			t.Errorf("a sample is linked with %x %x", l.TraceId, l.SpanId)
		}
		sum += s.Values[0]
	}
	if want := cct.Sum(thread.Roots).Self; sum != want || want == 0 {
		t.Errorf("its samples are %d ns in all, want %d", sum, want)
	}
	if began := uint64(ended.Add(-r.Time).UnixNano()); text[one.SampleType.TypeStrindex] != push.RootCallSelf || one.TimeUnixNano != began+2e9 || one.DurationNano != 4e6 || len(one.ProfileId) != 16 {
		t.Errorf("type %s, %d ns from %d, id %x", text[one.SampleType.TypeStrindex], one.DurationNano, one.TimeUnixNano, one.ProfileId)
	}
	for _, p := range after[:len(before)] {
		for _, s := range p.Samples {
			if s.LinkIndex != 0 {
				t.Error("a sample of the whole recording has a link")
			}
		}
	}
}
