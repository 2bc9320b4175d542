package cli

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

// linkFlags say which broker is used, and as whom.
type linkFlags struct {
	key, hub, nats, creds, ca, user, role string

	file string // of keys, where no flag says one: "node.key"
}

func (f *linkFlags) add(fs *pflag.FlagSet, file string) {
	f.file = file
	fs.StringVar(&f.key, "key", "", "key `FILE` that the hub has written: address, token, certificate (default: $RIVULET_KEY, else "+file+" in ~/.config/rivulet or /etc/rivulet)")
	fs.StringVar(&f.hub, "hub", "", "`URL` of the hub, if it is another one than the key says")
	fs.StringVar(&f.nats, "nats", "", "`URL` of a NATS cluster instead of a hub; several with commas")
	fs.StringVar(&f.creds, "creds", "", "with --nats: `FILE` of NATS credentials, instead of a key")
	fs.StringVar(&f.ca, "tls-ca", "", "`FILE` with the certificates that the broker's is signed by, if not the key's or the system's")
	fs.StringVar(&f.user, "user", "", "with --creds: `NAME` that these credentials may use in subjects")
	fs.StringVar(&f.role, "role", "", "with --creds: `ROLE` that they are of: look, sample, record or dump")
}

// read is the key that the flags mean.
func (f *linkFlags) read() (*link.Key, error) {
	switch {
	case f.hub != "" && f.nats != "":
		return nil, usage("--hub and --nats: give one of both")
	case f.creds == "" && (f.user != "" || f.role != ""):
		return nil, usage("--user and --role belong to --creds; a key has its own")
	case f.creds != "" && f.nats == "":
		return nil, usage("--creds is for a NATS cluster: give --nats URL with it")
	case f.creds != "" && f.key != "":
		return nil, usage("--creds and --key: give one of both")
	}
	k := &link.Key{Creds: f.creds, User: f.user, Role: fleet.Role(f.role)}
	if f.creds == "" {
		path, err := f.find()
		if err != nil {
			return nil, err
		}
		if k, err = link.ReadKey(path); err != nil {
			return nil, usage("%w", err)
		}
	} else if f.file == nodeKeyFile {
		k.User, k.Role = cmp.Or(k.User, "node"), fleet.RoleNode
	}
	if f.creds != "" && (!fleet.KnownRole(string(k.Role)) || k.User == "" || k.User != fleet.Token(k.User)) {
		return nil, usage("with --creds give --user NAME (letters, digits, - and _) and --role look, sample, record or dump")
	}
	k.URL = cmp.Or(f.hub, f.nats, k.URL)
	if f.ca != "" {
		k.CAFile = f.ca
	}
	if k.URL == "" {
		return nil, usage("the address of the broker is missing: give --hub URL")
	}
	return k, nil
}

const (
	nodeKeyFile   = "node.key"
	personKeyFile = "fleet.key"
)

// find is the key file.
func (f *linkFlags) find() (string, error) {
	if path := cmp.Or(f.key, os.Getenv("RIVULET_KEY")); path != "" {
		return path, nil
	}
	var tried []string
	if dir, err := os.UserConfigDir(); err == nil {
		tried = append(tried, filepath.Join(dir, "rivulet", f.file))
	}
	tried = append(tried, filepath.Join("/etc/rivulet", f.file))
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", usage("no key: give --key FILE. rivulet hub writes it on its first start, into keys/ of its folder; without the flag it is looked for in %s", enumerate(tried))
}

// stateDir is where a daemon keeps its files by default.
func stateDir(name string) string {
	if os.Geteuid() == 0 {
		return filepath.Join("/var/lib/rivulet", name)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "rivulet", name)
	}
	home, _ := os.UserHomeDir() // "" is the working directory
	return filepath.Join(home, ".local/state/rivulet", name)
}
