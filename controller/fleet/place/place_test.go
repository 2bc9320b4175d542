package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCgroup(t *testing.T) {
	id := strings.Repeat("0af1", 16)
	const uid = "12345678-9abc-def0-1234-56789abcdef0"
	for text, want := range map[string]Place{
		"0::/system.slice/orders.service\n":        {Service: "orders"},
		"0::/system.slice/docker-" + id + ".scope": {Container: id},
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice/cri-containerd-" + id + ".scope\n": {Container: id, PodUID: uid},
		"12:memory:/kubepods/besteffort/pod" + uid + "/" + id + "\n1:name=systemd:/kubepods/besteffort/pod" + uid + "/" + id:                                  {Container: id, PodUID: uid},
		"0::/machine.slice/libpod-" + id + ".scope/container":                                                                                                 {Container: id},
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service":                                                                             {Service: "shop"},
		"0::/system.slice/containerd.service/kubepods-pod" + uid + "/" + id:                                                                                   {Container: id, PodUID: uid},
		"0::/\n":       {},
		"nonsense\n::": {},
	} {
		if diff := cmp.Diff(want, parseCgroup([]byte(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestOf looks at a process that is written down as files.
func TestOf(t *testing.T) {
	proc := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(proc, "7", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup", "0::/docker/"+strings.Repeat("a", 64))
	write("root/etc/hostname", "orders-7d9f-abcde\n")
	write("environ", "PASSWORD=secret\x00OTEL_RESOURCE_ATTRIBUTES=service.name=orders,track=canary\x00")
	p := Of(proc, 7, []string{"-Xmx1g", "-Dspring.application.name=other"})
	if p.Hostname != "orders-7d9f-abcde" || p.App != "orders" || p.Labels["track"] != "canary" || len(p.Labels) != 2 {
		t.Errorf("%+v", p)
	}
	if p := Of(proc, 7, []string{"-Dotel.service.name=mine"}); p.App != "mine" {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff(Place{Labels: map[string]string{}}, Of(proc, 8, nil)); diff != "" {
		t.Error(diff)
	}
}
