package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/hub"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

// hubSetup prepares a cluster of NATS servers.
func (a *app) hubSetup() *cobra.Command {
	f := hubFlags{}
	var l linkFlags
	replicas := 3
	cmd := &cobra.Command{
		Use:   "setup --nats URL",
		Short: "Set up a NATS cluster for a fleet, instead of a hub",
		Long: `Makes the streams and object stores of a fleet in a NATS cluster with JetStream, or changes them to
these limits. It needs a user who may do so: the key setup.key that rivulet hub nats-config writes.`,
		Example: `  rivulet hub setup --nats nats://n1:4222,nats://n2:4222,nats://n3:4222 --key keys/setup.key`,
		Args:    takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.nats == "" {
				return usage("--nats URL is missing")
			}
			limits, err := f.limits(replicas)
			if err != nil {
				return err
			}
			k, err := l.read()
			if err != nil {
				return err
			}
			c, err := link.Dial(k, link.Options{Name: "rivulet setup"})
			if err != nil {
				return err
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
			defer cancel()
			if err := c.Setup(ctx, limits); err != nil {
				return err
			}
			a.say("%s is set up, with %s", k.URL, export.Plural(int64(replicas), "copy", "copies"))
			return nil
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	l.add(fs, personKeyFile)
	fs.StringVar(&f.disk, "disk", defaultHubDisk, "`SIZE` that all of it may grow to on each server")
	fs.DurationVar(&f.keep, "keep", 7*24*time.Hour, "how long results stay, a `time` such as 72h")
	fs.IntVar(&replicas, "replicas", 3, "how many servers keep a copy: 1, 3 or 5")
	return cmd
}

// hubConfig writes what a NATS cluster needs.
func (a *app) hubConfig() *cobra.Command {
	var dir, url string
	cmd := &cobra.Command{
		Use:   "nats-config --url URL",
		Short: "Write keys, and the part of a NATS server's configuration that lets them in",
		Long: `Writes the keys node, admin and setup into a folder, and prints the "authorization" part of a
nats-server's configuration: these users, and the subjects that each role may use.`,
		Example: `  rivulet hub nats-config --url nats://n1:4222,nats://n2:4222,nats://n3:4222 --dir keys > authorization.conf
  rivulet hub setup --nats nats://n1:4222 --key keys/setup.key`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			if url == "" {
				return usage("--url is missing: where is the cluster reached?")
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			var keys []*link.Key
			for name, role := range map[string]fleet.Role{"node": fleet.RoleNode, "admin": fleet.RoleDump, "setup": fleet.RoleSetup} {
				path := filepath.Join(dir, name+".key")
				k, err := link.ReadKey(path)
				if errors.Is(err, fs.ErrNotExist) {
					k = &link.Key{URL: url, User: name, Role: role, Token: hub.NewToken()}
					err = link.WriteKey(path, k)
				}
				if err != nil {
					return err
				}
				keys = append(keys, k)
			}
			text, err := hub.Configuration(keys, func(token string) (string, error) {
				b, err := bcrypt.GenerateFromPassword([]byte(token), bcrypt.MinCost) // tokens can't be guessed
				return string(b), err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "keys", "`FOLDER` of the keys; those that are there stay")
	cmd.Flags().StringVar(&url, "url", "", "`URL` of the cluster, several with commas")
	return cmd
}
