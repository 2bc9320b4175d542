package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/push"
)

// pushFlags say where reports go, and as whose.
type pushFlags struct {
	otlp, pyroscope string
	service         string
	labels, headers []string
	patience        time.Duration
	asJSON          bool
}

// A pushed is what became of one report, as --json has it.
type pushed struct {
	File    string `json:"file"`
	To      string `json:"to"` // "otlp" or "pyroscope"
	Service string `json:"service"`
	Error   string `json:"error,omitempty"`
}

func (a *app) pushCommand() *cobra.Command {
	var f pushFlags
	cmd := &cobra.Command{
		Use:   "push FILE...",
		Short: "Send saved reports to a server that keeps profiles: OpenTelemetry, Pyroscope",
		Long: `Sends reports that were saved as JSON or snapshot (or pprof, collapsed stacks) to an
OTLP receiver over HTTP or gRPC, such as an OpenTelemetry Collector with the profiles
signal on, or to Pyroscope. - is standard input, so that a recording goes there directly.

The service is named after the program's main class, or as --service says. The time is that of
the file. A request is repeated three times if the server is away or overloaded.`,
		Example: `  rivulet push monday.rivulet --otlp http://127.0.0.1:4318
  rivulet push monday.rivulet --otlp grpc://127.0.0.1:4317
  rivulet sample 4711 --for 10s --format snapshot | rivulet push - --pyroscope http://127.0.0.1:4040
  rivulet push *.rivulet --otlp https://otlp.example.com --service orders --label env=prod
  rivulet push monday.rivulet --pyroscope https://HOST --header @/etc/rivulet/header   # Authorization: Bearer ...`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("FILE is missing; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.push(args, &f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.otlp, "otlp", "", "send to the OTLP receiver at this `URL`: http://, https://, and over gRPC grpc://HOST:PORT, grpcs:// with TLS")
	fs.StringVar(&f.pyroscope, "pyroscope", "", "send to Pyroscope at this `URL`")
	fs.StringVar(&f.service, "service", "", "`NAME` of the service (default: the program's main class)")
	fs.StringArrayVar(&f.labels, "label", nil, "add this label, `NAME=VALUE`; repeat it for more")
	fs.StringArrayVar(&f.headers, "header", nil, "send this HTTP header, `'NAME: VALUE'`; @FILE reads them from a file, a line each, which keeps passwords out of the command line")
	fs.DurationVar(&f.patience, "timeout", 30*time.Second, "give up a server after this `time`, repetitions included")
	fs.BoolVar(&f.asJSON, "json", false, "write what was sent as JSON")
	return cmd
}

// push sends each file to each server, once all were read. What can't be sent is named; the others are sent.
func (a *app) push(files []string, f *pushFlags) error {
	labels, header, err := f.check()
	if err != nil {
		return err
	}
	in := watchInterrupts()
	defer in.stop()
	client := push.NewClient(header)
	host, _ := os.Hostname() // without a name there is no host.name
	targets := []struct {
		name, address string
		send          func(context.Context, string, *export.Report, push.Origin) error
	}{{"otlp", f.otlp, client.OTLP}, {"pyroscope", f.pyroscope, client.Pyroscope}}
	reports := make([]*export.Report, len(files))
	for i, file := range files {
		if reports[i], err = a.loadReport(file); err != nil {
			return err
		}
	}
	all := []pushed{}
	failed := 0
	for i, file := range files {
		r := reports[i]
		o := push.Origin{Service: f.service, Host: host, Labels: labels, Ended: time.Now()}
		if o.Service == "" {
			o.Service = serviceOf(r.Target.Main)
		}
		if info, err := os.Stat(file); file != "-" && err == nil {
			o.Ended = info.ModTime()
		}
		for _, t := range targets {
			if t.address == "" {
				continue
			}
			one := pushed{File: file, To: t.name, Service: o.Service}
			ctx, cancel := context.WithTimeout(in.first, f.patience)
			err := t.send(ctx, t.address, r, o)
			cancel()
			switch {
			case in.first.Err() != nil:
				return interrupted(in, err)
			case err != nil:
				failed++
				one.Error = oneLine(err.Error())
				a.say("%s: not sent to %s: %s", file, t.name, one.Error)
			default:
				a.say("%s: sent to %s as service %s", file, t.name, o.Service)
			}
			all = append(all, one)
		}
	}
	if f.asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", " ")
		if err := e.Encode(map[string]any{"schema": 1, "kind": "push", "sent": all}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d were not sent", failed, len(all))
	}
	return nil
}

// serviceOf is a service's name of a main class or jar, without folders and options.
func serviceOf(main string) string {
	name, _, _ := strings.Cut(main, " ")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "" {
		return "unknown_service:java" // as OpenTelemetry calls it
	}
	return name
}

var (
	labelName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

func (f *pushFlags) check() (labels map[string]string, header http.Header, err error) {
	if f.otlp == "" && f.pyroscope == "" {
		return nil, nil, usage("say where to: --otlp URL, --pyroscope URL, or both")
	}
	for _, t := range [][2]string{{"--otlp", f.otlp}, {"--pyroscope", f.pyroscope}} {
		if t[1] == "" {
			continue
		}
		if err := push.Check(t[1], t[0] == "--otlp"); err != nil {
			return nil, nil, usage("%s: %w", t[0], err)
		}
	}
	if f.patience <= 0 {
		return nil, nil, usage("--timeout %v: give a time above zero, such as 30s", f.patience)
	}
	labels = map[string]string{}
	for _, l := range f.labels {
		name, value, ok := strings.Cut(l, "=")
		if !ok || value == "" || !labelName.MatchString(name) || strings.HasPrefix(name, "__") {
			return nil, nil, usage("--label %q: give NAME=VALUE; a name has letters, digits, _ and .", l)
		}
		labels[name] = value
	}
	header = http.Header{}
	for _, h := range f.headers {
		lines := []string{h}
		if name, ok := strings.CutPrefix(h, "@"); ok {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, nil, usage("--header: %w", err)
			}
			lines = strings.Split(strings.TrimSpace(string(b)), "\n")
		}
		for _, line := range lines {
			name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.TrimSpace(value)
			if !ok || !headerName.MatchString(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				return nil, nil, usage("--header: a line is no header; give 'NAME: VALUE'") // not quoted: it may be a secret
			}
			header.Add(name, value)
		}
	}
	return labels, header, nil
}
