package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/web"
)

const defaultListen = "127.0.0.1:0"

func (a *app) serve() *cobra.Command {
	var listen, java, snapshots, token, key string
	var packages appFlags
	cmd := &cobra.Command{
		Use:   "serve [PID]",
		Short: "Open a page in the browser: choose a JVM and a root, record, and look at the tree while it grows",
		Long: `Serves a page on this machine and prints its address, which contains a secret:
who has it can attach to the JVMs that you can attach to. The page needs nothing
from the network. With a PID it is attached to that JVM already. To see the page of
another machine, forward its port by ssh under the same number.

With --fleet it shows the JVMs of many hosts, too; who has the address can do what the key allows.

Ctrl-C ends the recording that is on, restores the target and ends the page.`,
		Example: `  rivulet serve
  rivulet serve 4711
  rivulet serve --listen 127.0.0.1:7007      # the port stays the same, the secret doesn't
  rivulet serve --listen 127.0.0.1:7007 --scrape-token /etc/rivulet/scrape.token    # for Prometheus, Alloy, Parca
  rivulet serve --fleet ~/.config/rivulet/fleet.key
  ssh -t -L 7007:127.0.0.1:7007 HOST rivulet serve --listen 127.0.0.1:7007`,
		Args: takes(0, "PID"),
		RunE: func(_ *cobra.Command, args []string) error {
			pid := 0
			if len(args) > 0 {
				var err error
				if pid, err = parsePID(args[0]); err != nil {
					return err
				}
			}
			if err := packages.check(); err != nil {
				return err
			}
			cfg := web.Config{Snapshots: snapshots, App: packages.app, Fleet: a.jvmsHere()}
			if token != "" {
				var err error
				if cfg.ScrapeToken, err = readToken(token); err != nil {
					return err
				}
			}
			if key != "" {
				var err error
				if cfg.Fleet, err = a.fleetOfKey(key); err != nil {
					return usage("--fleet: %w; give a key file, which rivulet hub writes and rivulet hub key add makes", err)
				}
			}
			_, err := a.servePage(cfg, listen, &liveBackend{app: a, java: java, packages: packages.app}, func(ctx context.Context, l *live.Live) (web.Opening, error) {
				if pid == 0 {
					return web.Opening{}, nil
				}
				return web.Opening{}, l.Attach(ctx, pid, live.AttachOptions{})
			}, 0)
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "`ADDRESS:PORT` of the page; port 0 is any free one")
	cmd.Flags().StringVar(&token, "scrape-token", "", "`file` with a fixed token for scrapers: it reads /metrics and /debug/pprof/rivulet, and may do nothing else")
	cmd.Flags().StringVar(&key, "fleet", "", "show the JVMs of many hosts, too: key `FILE` of a hub, as rivulet fleet --key")
	addSnapshots(cmd.Flags(), &snapshots)
	packages.addApp(cmd.Flags())
	cmd.Flags().StringVar(&java, "java", "", "java `command` for the bundled sample program (default: JAVA_HOME, PATH, /usr/lib/jvm)")
	return cmd
}

// servePage serves until Ctrl-C, with a backend, unless the configuration has another one, and the log in the configuration, after having done what comes first, which says
// what the page shows. With a length it ends the recording after that, and goes on
// serving. It returns the report of the last recording, nil if there was none.
func (a *app) servePage(cfg web.Config, listen string, b *liveBackend, first func(context.Context, *live.Live) (web.Opening, error), length time.Duration) (*export.Report, error) {
	in := watchInterrupts()
	defer in.stop()
	defer b.close()
	var err error
	if cfg.Snapshots, err = snapshotFolder(cfg.Snapshots); err != nil {
		return nil, err
	}
	if cfg.Backend == nil {
		cfg.Backend = b
	}
	cfg.Log, cfg.Sample, cfg.Find, cfg.Inside = a.log(), a.scrape, a.findOne, a.lookInside
	server, err := web.Listen(listen, cfg)
	if err != nil {
		return nil, usage("%w", err)
	}
	ran := make(chan error, 1)
	over, end := context.WithCancel(in.first)
	defer end()
	b.steer = server.Live().Do
	go func() { ran <- server.Run(over, in.second) }()
	opening, err := first(in.first, server.Live())
	if err != nil {
		end()
		return nil, errors.Join(interrupted(in, err), <-ran)
	}
	if !server.Loopback() {
		a.say("others on the network can reach the page, and read the secret on its way: there is no encryption; a tunnel to 127.0.0.1 is safer")
	}
	a.say("the page is at %s", server.URLOf(opening))
	a.say("Ctrl-C ends it")
	if length > 0 {
		stop := time.AfterFunc(length, func() {
			if err := server.Live().Stop(in.second); err != nil && !errors.Is(err, live.ErrPhase) {
				a.say("%s", oneLine(err.Error()))
			}
		})
		defer stop.Stop()
	}
	err = <-ran
	return server.Live().LastReport(), err
}

// profileOnPage is profile with its recording on a page.
func (a *app) profileOnPage(pid int, f *recordFlags) error {
	out, err := openOutput(f.file, a.stdout)
	if err != nil {
		return err
	}
	defer out.discard()
	if _, err := out.format(f.format); err != nil {
		return err
	}
	defer f.discardMore()
	if err := f.openMore(a.stdout); err != nil {
		return err
	}
	defaults := f.rec.Clone() // of further recordings
	defaults.Roots, defaults.UntilCalls, defaults.Wait = nil, 0, false
	r, err := a.servePage(web.Config{Snapshots: f.snapshots, Defaults: defaults, App: f.app.app}, f.listen, &liveBackend{app: a, packages: f.app.app, agents: f.agents.sources}, func(ctx context.Context, l *live.Live) (web.Opening, error) {
		if err := l.Attach(ctx, pid, live.AttachOptions{Memory: f.rec.Memory}); err != nil {
			return web.Opening{}, err
		}
		return web.Opening{}, l.Start(ctx, f.rec)
	}, f.length)
	return a.deliver(r, err, f, out)
}
