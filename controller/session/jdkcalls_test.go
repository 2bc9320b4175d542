package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/jdkcalls"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestNamedBy: what the JDK makes at run time is in no image, and needs not be; any
// other class that isn't there is somebody else's, who may call anything.
func TestNamedBy(t *testing.T) {
	j := jvmtest.Need(t, 17)
	f, err := os.Open(filepath.Join(j.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	image, err := jdkcalls.NewImage(f)
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]bool{
		"java/util/Formatter": true, "java/lang/invoke/BoundMethodHandle$Species_LLLLL": true, "jdk/proxy2/$Proxy7": true,
		"com/sun/proxy/$Proxy0": true, "jdk/jfr/internal/handlers/EventHandler5233_1795599362066-4772": true, "io/telemetry/boot/Context": false, "java/util/Formatter2": false,
	} {
		parts, err := namedBy(image, []string{"java/lang/Object", class, "java/lang/String"})
		if (err == nil) != want {
			t.Errorf("%s: %v", class, err)
		}
		names := 0
		for _, p := range parts {
			names += p.Len()
		}
		if want && names < 50 {
			t.Errorf("%s: %d names", class, names)
		}
	}
}
