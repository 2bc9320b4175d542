package fleet

import "slices"

// Names of what the broker keeps.
const (
	StreamCommands = "RIVULET_COMMANDS"
	StreamResults  = "RIVULET_RESULTS" // results, and what runs are of
	StreamNodes    = "RIVULET_NODES"
	StreamAudit    = "RIVULET_AUDIT"
	StreamEvents   = "RIVULET_EVENTS"
	BucketReports  = "rivulet-reports" // reports that are too large for a message
	BucketDumps    = "rivulet-dumps"   // heap dumps, which show values
)

// BucketStream is the stream of an object store.
func BucketStream(bucket string) string { return "OBJ_" + bucket }

// Inbox is the beginning of the subjects that answers to somebody go to, so that nobody
// reads those of others.
func Inbox(user string) string { return "_INBOX_" + user }

// Consumer is the name of a node's place in the stream of commands.
func Consumer(node string) string { return "node-" + node }

// A Grant is what a broker is to allow.
type Grant struct {
	Publish   []string
	Subscribe []string
	Respond   bool // to answer whoever asks
}

// reads is what reading a stream takes.
func reads(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream,
		"$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.DIRECT.GET." + stream, "$JS.API.DIRECT.GET." + stream + ".>",
		"$JS.API.CONSUMER.CREATE." + stream + ".>",
		"$JS.API.CONSUMER.INFO." + stream + ".>",
		"$JS.API.CONSUMER.DELETE." + stream + ".>",
		"$JS.API.CONSUMER.MSG.NEXT." + stream + ".>",
		"$JS.ACK." + stream + ".>",
		"$JS.FC." + stream + ".>",
	}
}

// GrantOf is what somebody of a role needs, and no more. For a node that is named, commands
// to others can't be read and results of others can't be sent; node "" is any.
func GrantOf(user string, role Role, node string) Grant {
	switch role {
	case RoleNode:
		return nodeGrant(user, node)
	case RoleSetup:
		return Grant{Publish: []string{">"}, Subscribe: []string{">"}}
	}
	g := Grant{Subscribe: []string{Inbox(user) + ".>"}}
	g.Publish = append(reads(StreamNodes), AskSubject(user), "$JS.API.INFO")
	if !role.May(RoleSample) {
		return g
	}
	g.Publish = append(g.Publish, runSubject+"."+user+".>")
	for _, r := range Roles[1:] { // to look takes no command
		if role.May(r) {
			g.Publish = append(g.Publish, DoSubjects(user, r))
		}
	}
	g.Publish = append(g.Publish, reads(StreamResults)...)
	g.Publish = append(g.Publish, reads(BucketStream(BucketReports))...)
	g.Publish = append(g.Publish, reads(StreamAudit)...)
	g.Publish = append(g.Publish, reads(StreamEvents)...)
	if role.May(RoleDump) {
		g.Publish = append(g.Publish, reads(BucketStream(BucketDumps))...)
	}
	g.Subscribe = append(g.Subscribe, AllProgress)
	return g
}

func nodeGrant(user, node string) Grant {
	name, consumer := node, Consumer(node)
	if node == "" {
		name, consumer = "*", "*"
	}
	g := Grant{Respond: true, Subscribe: []string{Inbox(user) + ".>", AllAsk}}
	g.Publish = []string{
		resultSubject + ".*." + name + ".*", ProgressSubject("*", name), AuditSubject(name), EventSubject(name), NodeSubject(name),
		"$JS.API.INFO", "$JS.API.STREAM.INFO." + StreamCommands,
		"$JS.API.CONSUMER.CREATE." + StreamCommands + "." + consumer + ".>",
		"$JS.API.CONSUMER.INFO." + StreamCommands + "." + consumer,
		"$JS.API.CONSUMER.DELETE." + StreamCommands + "." + consumer,
		"$JS.API.CONSUMER.MSG.NEXT." + StreamCommands + "." + consumer,
		"$JS.ACK." + StreamCommands + "." + consumer + ".>",
	}
	for _, b := range []string{BucketReports, BucketDumps} {
		g.Publish = append(g.Publish, "$O."+b+".C.>", "$O."+b+".M.>",
			"$JS.API.STREAM.INFO."+BucketStream(b), "$JS.API.STREAM.MSG.GET."+BucketStream(b), "$JS.API.DIRECT.GET."+BucketStream(b)+".>")
	}
	return g
}

// KnownRole tells whether a name is one of a role.
func KnownRole(name string) bool {
	return slices.Contains(append([]Role{RoleNode, RoleSetup}, Roles...), Role(name))
}
