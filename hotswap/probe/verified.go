package probe

import (
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// Verify type-checks the rewritten methods of a result and returns those that
// a JVM would refuse, with the reason. The bytes of a result for which it
// returns any must not be sent: the JVM does not verify classes of the boot
// loader on redefinition.
func Verify(r Result, h verify.Hierarchy) ([]Skipped, error) {
	if r.Bytes == nil {
		return nil, nil
	}
	c, err := classfile.Parse(r.Bytes)
	if err != nil {
		return nil, err
	}
	var bad []Skipped
	for _, key := range r.Rewritten {
		m := c.Method(key.Name, key.Desc)
		_, err := verify.Method(c, m, h)
		if err != nil {
			bad = append(bad, Skipped{key, err.Error()})
		}
	}
	return bad, nil
}
