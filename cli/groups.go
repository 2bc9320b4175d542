package cli

import "github.com/spf13/cobra"

// groups are the sections of the list of commands that "rivulet --help" prints, in its order.
var groups = []struct {
	title    string
	commands []string
}{
	{"Find a JVM and a root:", []string{"ps", "doctor", "classes", "methods", "suggest"}},
	{"Record exactly what a method calls:", []string{"profile", "run", "serve", "attach", "time", "compare", "prepare", "restore", "demo"}},
	{"Look at a JVM without probes:", []string{"sample", "top", "watch", "threads", "locks", "heap", "jfr"}},
	{"Work with saved reports:", []string{"view", "diff", "merge", "check", "push"}},
	{"Work with many hosts:", []string{"fleet", "kube", "node", "hub"}},
	{"Others:", []string{"mcp", "version", "help"}},
}

// group puts the commands of root into the groups.
func group(root *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			of[name] = g.title
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = of[c.Name()]
	}
	root.SetHelpCommandGroupID(of["help"])
}
