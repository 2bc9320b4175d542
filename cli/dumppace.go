package cli

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// mostDumping is the share of the time that a JVM is asked for thread dumps at the most, unless somebody has said how
// often. All its threads stand still for the greater part of a dump.
const mostDumping = 0.05

// A dumpPace says when the next thread dump is taken: hz times a second, at moments with a jitter of a half, so that they
// keep no step with the program; less often where dumps take long, unless it is strict.
type dumpPace struct {
	hz     int
	strict bool

	dumps, slowed int
	taken         time.Duration
}

// rest is how long to wait after a dump that took some time.
func (p *dumpPace) rest(took time.Duration) time.Duration {
	p.dumps++
	p.taken += took
	period := time.Second / time.Duration(p.hz)
	rest := period/2 + rand.N(period)
	if least := time.Duration(float64(took) * (1/mostDumping - 1)); !p.strict && least > rest {
		p.slowed++
		return least
	}
	return rest
}

// note says that dumps were taken less often; "" if they were not.
func (p *dumpPace) note() string {
	if p.slowed == 0 {
		return ""
	}
	return fmt.Sprintf("thread dumps took %s on average: they were taken less often than %d times a second, so that they take no more than %.0f %% of the time", export.Duration(int64(p.taken)/int64(p.dumps)), p.hz, 100*mostDumping)
}
