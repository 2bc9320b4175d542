// Package receivers sends reports by the built program to the servers that it is for, as
// far as they can be had as Go modules: an OpenTelemetry Collector with its OTLP receiver and
// the profiles signal on, and Pyroscope's published schema. It is a module of its own, so
// that what a Collector stands on is nothing to Rivulet.
package receivers

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"google.golang.org/protobuf/encoding/protojson"
)

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rivulet-receivers")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "rivulet")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

func push(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, append([]string{"push"}, args...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// report is what all tests send: a recording of 10 s that ended at a known time.
const report = "testdata/report.json"

var ended = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func sent(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, ended, ended); err != nil {
		t.Fatal(err)
	}
	return file
}

// collector runs an OpenTelemetry Collector whose pipeline of profiles ends in the sink.
func collector(t *testing.T, sink *consumertest.ProfilesSink, protocol string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	if err := featuregate.GlobalRegistry().Set("service.profilesSupport", true); err != nil {
		t.Fatal(err)
	}
	kept := component.MustNewType("kept")
	type config struct{}
	type keeper struct {
		component.StartFunc
		component.ShutdownFunc
		*consumertest.ProfilesSink
	}
	keep := xexporter.NewFactory(kept, func() component.Config { return &config{} },
		xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
			return keeper{ProfilesSink: sink}, nil
		}, component.StabilityLevelDevelopment))
	yaml := fmt.Sprintf(`yaml:{receivers: {otlp: {protocols: {%s: {endpoint: "%s"}}}}, exporters: {kept: {}}, service: {telemetry: {metrics: {level: none}, logs: {level: error}}, pipelines: {profiles: {receivers: [otlp], exporters: [kept]}}}}`, protocol, address)
	c, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(), DisableGracefulShutdown: true,
		Factories: func() (otelcol.Factories, error) {
			in := otlpreceiver.NewFactory()
			return otelcol.Factories{
				Receivers: map[component.Type]receiver.Factory{in.Type(): in},
				Exporters: map[component.Type]exporter.Factory{kept: keep},
				Telemetry: otelconftelemetry.NewFactory(),
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{yaml}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- c.Run(context.Background()) }()
	t.Cleanup(func() {
		c.Shutdown()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if n, err := net.Dial("tcp", address); err == nil {
			n.Close()
			return address
		}
		select {
		case err := <-ran:
			ran <- err
			t.Fatal("the collector ended: ", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("the collector doesn't listen")
		}
	}
}

// TestCollector sends a report, over HTTP and over gRPC, and finds names, values, labels and
// times in what the Collector's pipeline hands on.
func TestCollector(t *testing.T) {
	for protocol, scheme := range map[string]string{"http": "http://", "grpc": "grpc://"} {
		t.Run(protocol, func(t *testing.T) { testCollector(t, protocol, scheme) })
	}
}

func testCollector(t *testing.T, protocol, scheme string) {
	sink := &consumertest.ProfilesSink{}
	at := collector(t, sink, protocol)
	if code, text := push(t, sent(t), "--otlp", scheme+at, "--service", "orders", "--label", "env=prod"); code != 0 {
		t.Fatalf("code %d: %s", code, text)
	}
	all := sink.AllProfiles()
	if len(all) != 1 || all[0].ResourceProfiles().Len() != 1 {
		t.Fatalf("%d messages", len(all))
	}
	rp := all[0].ResourceProfiles().At(0)
	attributes := rp.Resource().Attributes().AsRaw()
	for key, want := range map[string]any{"service.name": "orders", "env": "prod", "process.pid": int64(4711), "process.runtime.version": "17.0.15"} {
		if attributes[key] != want {
			t.Errorf("%s is %v, want %v", key, attributes[key], want)
		}
	}
	got := map[string]map[string]int64{}
	d := all[0].Dictionary()
	for i := range rp.ScopeProfiles().At(0).Profiles().Len() {
		p := rp.ScopeProfiles().At(0).Profiles().At(i)
		text := func(i int32) string { return d.StringTable().At(int(i)) }
		name := text(p.SampleType().TypeStrindex()) + "/" + text(p.SampleType().UnitStrindex())
		if name == "root_call_self/nanoseconds" {
			linked(t, d, p)
			continue
		}
		got[name] = values(t, d, p)
		if begun := ended.Add(-10 * time.Second); !p.Time().AsTime().Equal(begun) || p.DurationNano() != 10e9 {
			t.Errorf("%s: %v for %d ns, want %v", name, p.Time().AsTime(), p.DurationNano(), begun)
		}
		if p.ProfileID().IsEmpty() {
			t.Errorf("%s has no id", name)
		}
	}
	same(t, got)
}

// linked wants the profile of the one root call that was part of a span.
func linked(t *testing.T, d pprofile.ProfilesDictionary, p pprofile.Profile) {
	t.Helper()
	sum := int64(0)
	for i := range p.Samples().Len() {
		s := p.Samples().At(i)
		l := d.LinkTable().At(int(s.LinkIndex()))
		if l.TraceID().String() != "4bf92f3577b34da6a3ce929d0e0e4736" || l.SpanID().String() != "00f067aa0ba902b7" {
			t.Errorf("a sample is linked with %s %s", l.TraceID(), l.SpanID())
		}
		sum += s.Values().At(0)
	}
	if begun := ended.Add(-7 * time.Second); sum != 1100 || !p.Time().AsTime().Equal(begun) || p.DurationNano() != 1500 {
		t.Errorf("root call: %d ns, %v for %d ns", sum, p.Time().AsTime(), p.DurationNano())
	}
}

// values are a profile's, by thread and stack, outermost frame first.
func values(t *testing.T, d pprofile.ProfilesDictionary, p pprofile.Profile) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	for i := range p.Samples().Len() {
		s := p.Samples().At(i)
		var path []string
		for _, a := range s.AttributeIndices().All() {
			kv := d.AttributeTable().At(int(a))
			if text(kv.KeyStrindex()) == "thread.name" {
				path = append(path, kv.Value().Str())
			}
		}
		stack := d.StackTable().At(int(s.StackIndex())).LocationIndices()
		for j := stack.Len() - 1; j >= 0; j-- {
			l := d.LocationTable().At(int(stack.At(j)))
			path = append(path, text(d.FunctionTable().At(int(l.Lines().At(0).FunctionIndex())).NameStrindex()))
			if a := l.AttributeIndices(); a.Len() != 1 || d.AttributeTable().At(int(a.At(0))).Value().Str() != "jvm" {
				t.Errorf("%s is no frame of a JVM", path[len(path)-1])
			}
		}
		out[strings.Join(path, ";")] += s.Values().At(0)
	}
	return out
}

func same(t *testing.T, got map[string]map[string]int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("sample types %d, want %d: %v", len(got), len(want), got)
	}
	for name, w := range want {
		g := got[name]
		if len(g) != len(w) {
			t.Errorf("%s: %v, want %v", name, g, w)
		}
		for path, v := range w {
			if g[path] != v {
				t.Errorf("%s of %s: %d, want %d", name, path, g[path], v)
			}
		}
	}
}

// want is what the report has, as written by hand.
var want = map[string]map[string]int64{
	"calls/count": {
		"main;shop.Orders.process":                               7,
		"main;shop.Orders.process;shop.Price.of":                 21,
		"worker;shop.Orders.process":                             2,
		"worker;shop.Orders.process;shop.Price.of":               6,
		"worker;shop.Orders.process;shop.Price.of;shop.Tax.rate": 5,
	},
	"self/nanoseconds": {
		"main;shop.Orders.process":                               4000,
		"main;shop.Orders.process;shop.Price.of":                 2100,
		"worker;shop.Orders.process":                             900,
		"worker;shop.Orders.process;shop.Price.of":               600,
		"worker;shop.Orders.process;shop.Price.of;shop.Tax.rate": 50,
	},
}

// TestNoProfiles says what a Collector lacks that takes no profiles.
func TestNoProfiles(t *testing.T) {
	s := http.Server{Handler: http.NotFoundHandler()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	defer s.Close()
	if code, text := push(t, sent(t), "--otlp", "http://"+l.Addr().String()); code != 1 || !strings.Contains(text, "service.profilesSupport") {
		t.Errorf("code %d: %s", code, text)
	}
}

// TestPyroscopeSchema reads a request strictly by Pyroscope's published messages.
func TestPyroscopeSchema(t *testing.T) {
	var got pushv1.PushRequest
	var failed error
	mux := http.NewServeMux()
	mux.HandleFunc("POST /push.v1.PusherService/Push", func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(z); err == nil {
				err = protojson.Unmarshal(body, &got) // unknown fields are errors
			}
		}
		failed = err
		io.WriteString(w, "{}")
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := http.Server{Handler: mux}
	go s.Serve(l)
	defer s.Close()
	if code, text := push(t, sent(t), "--pyroscope", "http://"+l.Addr().String(), "--service", "orders", "--label", "env=prod"); code != 0 || failed != nil {
		t.Fatalf("code %d: %s %v", code, text, failed)
	}
	if len(got.Series) != 1 || len(got.Series[0].Samples) != 1 {
		t.Fatalf("%d series", len(got.Series))
	}
	labels := map[string]string{}
	for _, l := range got.Series[0].Labels {
		labels[l.Name] = l.Value
	}
	for name, want := range map[string]string{"__name__": "rivulet", "service_name": "orders", "env": "prod", "process_pid": "4711"} {
		if labels[name] != want {
			t.Errorf("label %s is %q, want %q", name, labels[name], want)
		}
	}
	p, err := profile.ParseData(got.Series[0].Samples[0].RawProfile)
	if err != nil {
		t.Fatal(err)
	}
	if p.TimeNanos != ended.Add(-10*time.Second).UnixNano() {
		t.Errorf("begun at %d", p.TimeNanos)
	}
	found := map[string]map[string]int64{}
	for i, kind := range p.SampleType {
		name := kind.Type + "/" + kind.Unit
		found[name] = map[string]int64{}
		for _, s := range p.Sample {
			path := s.Label["thread"]
			for j := len(s.Location) - 1; j >= 0; j-- {
				path = append(path, s.Location[j].Line[0].Function.Name)
			}
			if s.Value[i] != 0 {
				found[name][strings.Join(path, ";")] += s.Value[i]
			}
		}
	}
	same(t, found)
}
