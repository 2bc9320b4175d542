package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/hub"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

func (a *app) hubKey() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Say who may use a hub: add, ls, rm",
		Long: `Makes and takes away keys of a hub, on the hub's host, whether it runs or not. A key file has
the hub's address, its certificate and a token; who has the file may do what its role allows:

  look    see nodes and JVMs
  sample  sample JVMs from outside, look at locks; read results, events and the audit log
  record  instrument JVMs, for exact counts; count objects
  dump    reserved for what shows values of objects
  node    carry out commands: of rivulet node, not of people

Each of the first four includes those before it. The hub keeps only a hash of the token.`,
		Example: `  rivulet hub key add anna --role record -o anna.key
  rivulet hub key add web-1 --role node --node web-1 -o web-1.key
  rivulet hub key ls
  rivulet hub key rm anna`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", stateDir("hub"), "`FOLDER` of the hub")
	cmd.AddCommand(a.hubKeyAdd(&dir), a.hubKeyList(&dir), a.hubKeyRemove(&dir))
	return cmd
}

func (a *app) hubKeyAdd(dir *string) *cobra.Command {
	var role, node, file string
	cmd := &cobra.Command{
		Use:     "add NAME --role ROLE -o FILE",
		Short:   "Make a key",
		Example: `  rivulet hub key add anna --role record -o anna.key`,
		Args:    takes(1, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			switch {
			case name != fleet.Token(name) || name == "hub":
				return usage("%q: a name has letters, digits, - and _, and is not hub", name)
			case !fleet.KnownRole(role) || role == string(fleet.RoleSetup):
				return usage("--role %q: there are look, sample, record, dump and node", role)
			case node != "" && role != string(fleet.RoleNode):
				return usage("--node is for keys of the role node")
			case file == "":
				return usage("-o FILE is missing: where shall the key be written?")
			}
			address := &link.Key{}
			if err := readJSONFile(filepath.Join(*dir, "address.json"), address); err != nil {
				return usage("%s is not the folder of a hub that has been started: %w", *dir, err)
			}
			if _, err := os.Stat(file); err == nil {
				return usage("%s exists: give another file", file)
			}
			key, err := hub.AddUser(*dir, name, fleet.Role(role), nodeToken(node))
			if errors.Is(err, hub.ErrKnown) {
				return usage("%w; rivulet hub key rm %s takes the key away", err, name)
			}
			if err != nil {
				return err
			}
			key.URL, key.CA = address.URL, address.CA
			if err := link.WriteKey(file, key); err != nil {
				return errors.Join(err, hub.RemoveUser(*dir, name))
			}
			a.say("key of %s, role %s, written to %s", name, role, file)
			return nil
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "look, sample, record, dump or node")
	cmd.Flags().StringVar(&node, "node", "", "with --role node: the only node, by its `NAME`, that may use the key")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the key to this `file`")
	return cmd
}

func (a *app) hubKeyList(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List who may use the hub",
		Example: `  rivulet hub key ls`,
		Args:    takes(0),
		RunE: func(*cobra.Command, []string) error {
			users, err := hub.Users(*dir)
			if err != nil {
				return err
			}
			if asJSON {
				for i := range users {
					users[i].Hash = ""
				}
				return writeJSON(a.stdout, append([]hub.User{}, users...))
			}
			rows := [][]string{{"NAME", "ROLE", "NODE", "MADE"}}
			for _, u := range users {
				rows = append(rows, []string{u.Name, string(u.Role), u.Node, u.Made.Format(time.DateOnly)})
			}
			return writeRows(a.stdout, rows, 0)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON: a list of objects with name, role, node and made")
	return cmd
}

func (a *app) hubKeyRemove(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME",
		Short:   "Take a key away; connections by it end within seconds",
		Example: `  rivulet hub key rm anna`,
		Args:    takes(1, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := hub.RemoveUser(*dir, args[0]); err != nil {
				return usage("%w", err)
			}
			a.say("the key of %s is no longer good", args[0])
			return nil
		},
	}
}

// nodeToken is a node's name as subjects have it; "" stays.
func nodeToken(name string) string {
	if name == "" {
		return ""
	}
	return fleet.Token(name)
}

func readJSONFile(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
