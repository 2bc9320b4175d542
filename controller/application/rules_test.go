package application

import (
	"errors"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

func TestKind(t *testing.T) {
	for _, c := range []struct {
		main, app, method string
		want              Kind
	}{
		{"shop.Main", "", "shop.Orders.order", Own},
		{"shop.Main", "", "shopping.Orders.order", Other},
		{"shop.Main", "", "shop.Orders$$SpringCGLIB$$0.order", Framework},
		{"shop.Main", "", "jdk.proxy2.$Proxy41.find", Framework},
		{"shop.Main", "", "com.lib.Parser.parse", Other},
		{"shop.Main", "", "org.springframework.web.A.a", Framework},
		{"shop.Main", "", "org.springframeworks.A.a", Other},
		{"shop.Main", "", "javax.servlet.http.HttpServlet.service", Framework},
		{"shop.Main", "", "javax.crypto.Cipher.update", Caller},
		{"shop.Main", "", "java.util.HashMap.get", Caller},
		{"shop.Main", "", "java.lang.reflect.Method.invoke", Framework},
		{"org.springframework.samples.petclinic.PetClinicApplication", "", "org.springframework.samples.petclinic.owner.OwnerController.show", Own},
		{"org.springframework.boot.loader.launch.JarLauncher", "", "org.springframework.boot.A.a", Framework},
		{"org.apache.catalina.startup.Bootstrap", "", "org.apache.catalina.startup.Bootstrap.main", Framework},
		{"kafka.Kafka", "", "org.apache.kafka.common.network.Selector.poll", Other},
		{"shop.Main", "", "org.apache.kafka.clients.consumer.KafkaConsumer.poll", Framework},
		{"/opt/shop.jar", "", "shop.Orders.order", Other},
		{"/opt/shop.jar", "", "shop.shaded.org.eclipse.jetty.util.A.a", Framework},
		{"/opt/shop.jar", "", "com.acme.org.A.a", Other},
		{"/opt/shop.jar", "", "com.acme.java.util.A.a", Other},
		{"mod/com.acme.shop.Main", "", "com.acme.other.A.a", Own},
		{"shop.Main", "com.acme", "com.acme.A.a", Own},
		{"shop.Main", "com.acme", "shop.Orders.order", Framework},
		{"shop.Main", "com.acme", "java.util.HashMap.get", Caller},
		{"shop.Main", "org.hibernate.**", "org.hibernate.A.a", Own},
		{"shop.Main", "com.acme.Orders", "com.acme.Orders$Line.a", Own},
	} {
		var app []string
		if c.app != "" {
			app = []string{c.app}
		}
		r, err := New(app, c.main)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Kind(cct.Method{Name: c.method + "(I)V"}); got != c.want {
			t.Errorf("main %s, app %q: %s is %d, want %d", c.main, c.app, c.method, got, c.want)
		}
	}
	r, err := New(nil, "shop.Main")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []cct.Method{{Name: "__memmove"}, {Name: "shop.A.a()V", Loader: "native"}, {Name: "unknown method 3", Loader: "unknown"}, {Name: "(JIT compiler C2)"}} {
		if got := r.Kind(m); got != Caller {
			t.Errorf("%+v is %d", m, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, p := range []string{"", "com..acme", "com.*.acme", "a b", "com/acme", "com.acme.A.a()"} {
		if _, err := New([]string{p}, ""); !errors.Is(err, ErrPackage) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

// TestList holds that each package of the list is found by itself, and named once.
func TestList(t *testing.T) {
	r, err := New(nil, "shop.Main")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range List {
		for _, p := range e.Packages {
			if seen[p] {
				t.Errorf("%s is listed twice", p)
			}
			seen[p] = true
			if got := r.Kind(cct.Method{Name: p + ".A.a()V"}); got != Framework {
				t.Errorf("%s of %s is %d", p, e.Name, got)
			}
			if strings.HasSuffix(p, ".") {
				t.Errorf("%s ends with a dot", p)
			}
		}
	}
}
