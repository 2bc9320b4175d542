package cli_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rivulet-profiler/rivulet/cli"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// orderProgram handles orders of ten items each. Most of the time is planted in the
// discount, which its class's callers don't show.
const orderProgram = `
public class Orders {
    static long sink;
    static long discount(int n) { long x = n; for (int i = 0; i < 20000; i++) x = x * 31 + (x >>> 7); return x; }
    static long price(int n) { return n + discount(n); }
    static long tax(int n) { return n * 19L / 100; }
    static void handle(int n) { for (int i = 0; i < 10; i++) sink += price(n + i) + tax(n); }
    public static void main(String[] args) throws Exception {
        for (int n = 0; n < 300; n++) handle(n);
        System.out.println("READY");
        for (int n = 0; sink != 42; n++) handle(n);
    }
}`

// TestMCP does what an assistant would: it finds the server, samples, takes the root
// that is suggested, records it, and finds the planted hot spot with its exact count.
func TestMCP(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"Orders.java": orderProgram})
	p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Orders", nil, dir)
	p.WaitLine("READY")
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Main([]string{"mcp", "--allow", "record", "--longest", "20s"}, inR, outW, os.Stderr)
		outW.Close()
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, args map[string]any, out any) {
		t.Helper()
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if r.IsError {
			if text, ok := r.Content[0].(*sdk.TextContent); ok && strings.Contains(text.Text, "perf event") {
				t.Skip("perf events are not to be had here")
			}
			t.Fatalf("%s: %+v", name, r.Content[0])
		}
		b, err := json.Marshal(r.StructuredContent)
		if err == nil {
			err = json.Unmarshal(b, out)
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	var found struct {
		JVMs []struct {
			PID  int
			Main string
		}
	}
	call("list_jvms", map[string]any{}, &found)
	pid := 0
	for _, v := range found.JVMs {
		if v.PID == p.PID() && v.Main == "Orders" {
			pid = v.PID
		}
	}
	if pid == 0 {
		t.Fatalf("process %d is not among %+v", p.PID(), found.JVMs)
	}
	type line struct {
		Method string
		Calls  int64
		Share  float64 `json:"self_share"`
	}
	type answer struct {
		Report  string
		Summary struct {
			Kind        string
			Exact       bool
			Invocations int64 `json:"root_invocations"`
			Hot         []line
		}
	}
	var sampled, recorded answer
	call("sample", map[string]any{"pid": pid, "seconds": 2}, &sampled)
	var suggested struct{ Roots []struct{ Root string } }
	call("suggest_roots", map[string]any{"report": sampled.Report}, &suggested)
	root := ""
	for _, s := range suggested.Roots {
		if strings.HasPrefix(s.Root, "Orders.handle") {
			root = s.Root
		}
	}
	if root == "" { // on a slow machine samples may show no more than its callees
		t.Logf("suggested: %+v", suggested)
		root = "Orders.handle"
	}
	call("record", map[string]any{"pid": pid, "roots": []string{root}, "seconds": 1}, &recorded)
	s := recorded.Summary
	if s.Kind != "recording" || !s.Exact || s.Invocations == 0 || len(s.Hot) == 0 || !strings.HasPrefix(s.Hot[0].Method, "Orders.discount") {
		t.Fatalf("%+v", s)
	}
	var around struct {
		Methods []struct {
			Method  line
			Callers []line
		}
	}
	call("callers", map[string]any{"report": recorded.Report, "method": "discount"}, &around)
	m := around.Methods[0]
	// One invocation of the root may be open at the end.
	if m.Method.Calls > 10*s.Invocations || m.Method.Calls <= 10*(s.Invocations-1) || len(m.Callers) != 1 || !strings.HasPrefix(m.Callers[0].Method, "Orders.price") || m.Callers[0].Calls != m.Method.Calls {
		t.Errorf("%d root calls, %+v", s.Invocations, m)
	}
	c.Close()
	inW.Close()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
