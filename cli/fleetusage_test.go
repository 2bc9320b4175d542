package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

func TestFleetUsage(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "a.key")
	if err := link.WriteKey(key, &link.Key{URL: "tls://127.0.0.1:1", User: "anna", Role: fleet.RoleRecord, Token: "x"}); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"fleet ps --key /nowhere":                                                   "/nowhere",
		"fleet ps --key KEY":                                                        "no broker answers at tls://127.0.0.1:1",
		"fleet ps --key KEY --select app":                                           "give KEY=PATTERN",
		"fleet ps --key KEY --hub a --nats b":                                       "one of both",
		"fleet ps --creds a":                                                        "--nats URL",
		"fleet ps --creds a --nats b --user x":                                      "--role",
		"fleet profile --key KEY --root a.B.c":                                      "--for is missing",
		"fleet profile --key KEY --for 1s":                                          "--root is missing",
		"fleet profile --root a.B.c --for 1s --late 0s":                             "--late",
		"fleet diff --canary a=b --root a.B.c --for 1s":                             "give both",
		"fleet diff --select a=b --canary a=b --baseline a=c --root a.B.c --for 1s": "instead",
		"fleet sample --for 1s --stop-when a>1":                                     "needs --health",
		"fleet sample --for 1s --health http://a":                                   "needs --stop-when",
		"fleet sample --for 1s --health a --stop-when a>1":                          "begins with http",
		"fleet sample --for 1s --health http://a --stop-when a=1":                   "--stop-when",
		"fleet sample --key KEY":                                                    "--for is missing",
		"fleet sample --last 1m --for 1s":                                           "give one of them",
		"fleet sample --last 0s":                                                    "above zero",
		"fleet sample --last 1m --hz 5":                                             "leave out how to sample",
		"node --watch-when deadlock":                                                "give --watch, too",
		"node --watch app":                                                          "KEY=PATTERN",
		"node --watch main=* --watch-when never":                                    "--watch-when",
		"node --watch main=* --watch-disk 1":                                        "--watch-disk",
		"node --watch main=* --watch-keep 1s":                                       "--watch-keep",
		"node --watch main=* --watch-most 0":                                        "--watch-most",
		"fleet sample --for 1s --max-at-once 200%":                                  "--max-at-once",
		"node --key KEY":                                                            "a node needs one of the role node",
		"node --key KEY --label x":                                                  "KEY=VALUE",
		"node --disk 1":                                                             "--disk",
		"hub --disk 1":                                                              "--disk",
		"hub --keep 1s":                                                             "--keep",
		"hub --tls-cert a":                                                          "belong together",
		"hub key add a.b --role look -o x":                                          "a name has letters",
		"hub key add anna --role boss -o x":                                         "there are look, sample",
		"hub key add anna --role look -o x --dir /nowher":                           "not the folder of a hub",
		"hub setup":       "--nats URL is missing",
		"hub nats-config": "--url is missing",
	} {
		r := newFake().run(t, strings.Fields(strings.ReplaceAll(args, "KEY ", key+" "))...)
		if strings.HasSuffix(args, "KEY") {
			r = newFake().run(t, strings.Fields(strings.TrimSuffix(args, "KEY")+key)...)
		}
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: code %d, %s", args, r.code, r.stderr)
		}
	}
}
