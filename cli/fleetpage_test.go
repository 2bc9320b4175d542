package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/web"
)

// TestFleetPage does what the page does in a fleet: JVMs, events, a recording, groups, heaps and locks of three nodes, by a real hub, and what is
// refused. Samples are those of tools/browser's TestFleet.
func TestFleetPage(t *testing.T) {
	t.Parallel()
	keys, _ := fleetOf(t, "web-1", "web-2", "web-3")
	files := map[fleet.Role]string{}
	for _, role := range []fleet.Role{fleet.RoleLook, fleet.RoleSample, fleet.RoleRecord} {
		files[role] = keys(role)
	}
	waitForNodes(t, files[fleet.RoleRecord], 3)
	a := &app{backend: newFake(), stdout: io.Discard, stderr: io.Discard}
	do := func(role fleet.Role, q web.FleetQuery) (out any, told []string, err error) {
		t.Helper()
		f, err := a.fleetOfKey(files[role])
		if err != nil || !strings.HasSuffix(f.Name, "role "+string(role)) {
			t.Fatalf("%q: %v", f.Name, err)
		}
		var mu sync.Mutex
		out, err = f.Do(t.Context(), t.Context(), q, func(s web.Step) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, s.Phase+s.Text)
		})
		return out, told, err
	}
	out, _, err := do(fleet.RoleLook, web.FleetQuery{Do: "jvms", Select: "node!=web-2"})
	list, ok := out.(fleetPsJSON)
	if err != nil || !ok || len(list.Nodes) != 3 || len(list.JVMs) == 0 || slices.ContainsFunc(list.JVMs, func(j fleet.Found) bool { return j.Node == "web-2" }) {
		t.Errorf("%v: %+v", err, out)
	}
	if out, _, err := do(fleet.RoleSample, web.FleetQuery{Do: "events", Seconds: 60}); err != nil || len(out.([]*fleet.Event)) != 0 {
		t.Errorf("%v, %v", out, err)
	}
	out, told, err := do(fleet.RoleRecord, web.FleetQuery{Do: "profile", Root: "shop.Price.of", Seconds: 0.1, AtOnce: "1", Overhead: "5%"})
	if err != nil {
		t.Fatal(err)
	}
	r := out.(*export.Report)
	hosts := map[string]bool{}
	for _, p := range r.Processes {
		hosts[p.Host] = true
	}
	if len(hosts) != 3 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "JVMs done") }) {
		t.Errorf("%v, told %q", hosts, told)
	}
	out, _, err = do(fleet.RoleRecord, web.FleetQuery{Do: "heap", Select: "app=shop"})
	if h, ok := out.(*fleetHeapJSON); err != nil || !ok || len(h.Processes) != 3 || h.Classes[0].Bytes != 900+1<<20 || len(h.Outliers) != 1 || h.Outliers[0].Host != "web-3" {
		t.Errorf("%v: %+v", err, out)
	}
	// There is no such process whose locks could be looked at: that is said, of each.
	out, told, err = do(fleet.RoleSample, web.FleetQuery{Do: "locks", Select: "app=shop"})
	if l, ok := out.(*fleetLocksJSON); err != nil || !ok || len(l.Processes) != 3 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "3 of 3 JVMs failed") }) {
		t.Errorf("%v: %+v, told %q", err, out, told)
	}
	out, _, err = do(fleet.RoleRecord, web.FleetQuery{Do: "compare", Select: "app=shop", Root: "shop.Price.of", Seconds: 0.1, By: "node", Base: "web-2"})
	g, ok := out.(*web.FleetGroups)
	if err != nil || !ok || g.By != "node" || g.Base != "web-2" || len(g.Groups) != 3 {
		t.Fatalf("%v: %+v", err, out)
	}
	for _, k := range g.Groups {
		if k.Report == nil || k.JVMs != 1 || k.RootCalls != 1 || k.PerRoot == nil || *k.PerRoot != 1 || (k.Verdict == "") != (k.Value == "web-2") {
			t.Errorf("%+v", k)
		}
	}
	for _, c := range []struct {
		role fleet.Role
		q    web.FleetQuery
		want string
	}{
		{fleet.RoleSample, web.FleetQuery{Do: "profile", Root: "shop.Price.of", Seconds: 1}, "takes the role record"},
		{fleet.RoleLook, web.FleetQuery{Do: "events", Seconds: 1}, "takes the role sample"},
		{fleet.RoleRecord, web.FleetQuery{Do: "jvms", Select: "nonsense"}, "KEY=PATTERN"},
		{fleet.RoleRecord, web.FleetQuery{Do: "sample", Seconds: 1, AtOnce: "many"}, "--max-at-once"},
		{fleet.RoleRecord, web.FleetQuery{Do: "profile", Root: "shop.Price.of", Seconds: 1, Overhead: "much"}, "overhead"},
		{fleet.RoleRecord, web.FleetQuery{Do: "profile", Root: "shop", Seconds: 1}, "shop"},
		{fleet.RoleSample, web.FleetQuery{Do: "heap"}, "takes the role record"},
		{fleet.RoleLook, web.FleetQuery{Do: "locks"}, "takes the role sample"},
		{fleet.RoleSample, web.FleetQuery{Do: "locks", Exact: true, Seconds: 1}, "takes the role record"},
		{fleet.RoleSample, web.FleetQuery{Do: "compare", Root: "shop.Price.of", By: "node", Seconds: 1}, "takes the role record"},
		{fleet.RoleRecord, web.FleetQuery{Do: "compare", Root: "shop.Price.of", By: "colour", Seconds: 1}, "have (none)"},
		{fleet.RoleRecord, web.FleetQuery{Do: "sample", Seconds: 1, Select: "app=none"}, "no JVM of"},
	} {
		if out, _, err := do(c.role, c.q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v", c.q, out, err)
		}
	}
	f, err := a.fleetOfKey(files[fleet.RoleRecord])
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if out, err := f.Do(ended, ended, web.FleetQuery{Do: "profile", Root: "shop.Price.of", Seconds: 300}, func(web.Step) {}); err == nil {
		t.Errorf("ended before it begins: %v", out)
	}
}
