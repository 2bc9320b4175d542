package beside

import "github.com/rivulet-profiler/rivulet/controller/sampler/stack"

// AtCall tells whether what a method of the JDK allocates is counted where it is called
// (package probe), so that its objects are the caller's own.
func AtCall(m *stack.Method) bool {
	if m == nil {
		return false
	}
	switch m.Name {
	case "valueOf":
		return boxes[m.Class]
	case "clone":
		return m.Class == "java/lang/Object"
	}
	return copies[m.Class+"."+m.Name]
}

var copies = map[string]bool{
	"java/util/Arrays.copyOf": true, "java/util/Arrays.copyOfRange": true,
	"java/lang/String.toCharArray": true, "java/lang/String.getBytes": true,
}

var boxes = map[string]bool{
	"java/lang/Integer": true, "java/lang/Long": true, "java/lang/Short": true, "java/lang/Character": true,
	"java/lang/Float": true, "java/lang/Double": true,
}
