package cli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/hub"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// hubFlags say how a hub runs.
type hubFlags struct {
	dir, listen, cert, certKey, disk string
	names                            []string
	keep                             time.Duration
}

// defaultHub is where a hub listens: the port that NATS uses.
const defaultHub = ":4222"

func (a *app) hubCommand() *cobra.Command {
	f := hubFlags{}
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the broker of a fleet: nodes bring results here, commands go out from here",
		Long: `Runs the broker of a small fleet: a NATS server with JetStream in this process. The first
start makes all that is needed in its folder: a certificate authority, a key for nodes, a key for
you. Copy keys/node.key to the hosts, and keys/admin.key to ~/.config/rivulet/fleet.key where you
work. Both have the address in them, which is the first --name, else this host's name.

All connections are encrypted. What somebody may do is the role of the key: look (see JVMs), sample,
record (instrument JVMs), dump (reserved for what shows values). rivulet hub key makes keys for others.

Commands, results and the audit log are on this disk, in bounded room: when it is full, nodes keep
their results and send them later. Ctrl-C ends the hub and nothing else: nodes go on, and connect again.

For a large fleet run a cluster of NATS servers instead: rivulet hub nats-config, rivulet hub setup.`,
		Example: `  rivulet hub
  rivulet hub --dir /var/lib/rivulet/hub --listen :4222 --name hub.example.com
  rivulet hub key add anna --role record -o anna.key
  rivulet hub key rm anna`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error { return a.runHub(&f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.dir, "dir", stateDir("hub"), "`FOLDER` of all that the hub keeps")
	fs.StringVar(&f.listen, "listen", defaultHub, "`ADDRESS:PORT` that nodes and commands reach it by")
	fs.StringArrayVar(&f.names, "name", nil, "`NAME` or address that others reach this host by; may be repeated, the first is in new keys")
	fs.StringVar(&f.disk, "disk", defaultHubDisk, "`SIZE` that the folder may grow to")
	fs.DurationVar(&f.keep, "keep", 7*24*time.Hour, "how long results stay, a `time` such as 72h")
	fs.StringVar(&f.cert, "tls-cert", "", "`FILE` with a certificate of your own, instead of one that the hub makes")
	fs.StringVar(&f.certKey, "tls-key", "", "`FILE` with its private key")
	cmd.AddCommand(a.hubKey(), a.hubSetup(), a.hubConfig())
	return cmd
}

// leastHubDisk is what one has at least.
const (
	leastHubDisk   = 64 << 20
	defaultHubDisk = "4G"
)

// limits are what the flags say of what is kept.
func (f *hubFlags) limits(replicas int) (link.Limits, error) {
	disk, err := spec.ParseSize(f.disk)
	switch {
	case err != nil || disk < leastHubDisk:
		return link.Limits{}, usage("--disk %q: give a size such as 4G, 64M at the least", f.disk)
	case f.keep < time.Hour:
		return link.Limits{}, usage("--keep %v: give an hour at least", f.keep)
	case replicas != 1 && replicas != 3 && replicas != 5:
		return link.Limits{}, usage("--replicas %d: there are 1, 3 and 5", replicas)
	}
	return link.Limits{Disk: disk, Reports: f.keep, Replicas: replicas}, nil
}

func (a *app) runHub(f *hubFlags) error {
	if (f.cert == "") != (f.certKey == "") {
		return usage("--tls-cert and --tls-key belong together: give both")
	}
	limits, err := f.limits(1)
	if err != nil {
		return err
	}
	in := watchInterrupts()
	defer in.stop()
	version, _ := versionOf()
	h, err := hub.Open(in.first, hub.Config{
		Dir: f.dir, Listen: f.listen, Names: f.names, Limits: limits,
		Cert: f.cert, CertKey: f.certKey, Version: version, Say: a.stamped,
	})
	if err != nil {
		return err
	}
	defer h.Close()
	if err := a.firstKeys(h, f.dir); err != nil {
		return err
	}
	a.say("the hub listens at %s, its files are in %s", h.URL, f.dir)
	h.Run(in.first)
	a.say("the hub ends; nodes keep their results, and connect again")
	return nil
}

// firstKeys writes keys when there are no users yet.
func (a *app) firstKeys(h *hub.Hub, dir string) error {
	users, err := hub.Users(dir)
	if err != nil {
		return err
	}
	keys := filepath.Join(dir, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return err
	}
	// The address and certificate of keys made later.
	if err := link.WriteKey(filepath.Join(dir, "address.json"), h.Key(&link.Key{})); err != nil || len(users) > 0 {
		return err
	}
	for _, k := range []struct {
		name, what string
		role       fleet.Role
	}{
		{"node", "for rivulet node: copy it to /etc/rivulet/node.key of each host", fleet.RoleNode},
		{"admin", "for rivulet fleet: copy it to ~/.config/rivulet/fleet.key where you work", fleet.RoleDump},
	} {
		key, err := hub.AddUser(dir, k.name, k.role, "")
		if err != nil {
			return err
		}
		path := filepath.Join(keys, k.name+".key")
		if err := link.WriteKey(path, h.Key(key)); err != nil {
			return err
		}
		a.say("new key %s: %s", path, k.what)
	}
	return nil
}

// stamped says something with the time: of daemons.
func (a *app) stamped(text string) { a.say("%s %s", time.Now().Format("15:04:05"), oneLine(text)) }
