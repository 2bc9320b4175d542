package bench

import (
	"errors"
	"log"
)

// tries is how often a session may fail to measure its probes' cost.
const tries = 3

// Until repeats a measurement until its report's times are corrected, which a
// busy machine can prevent. A short run goes on without.
func Until[R any](k *Kit, measure func() (R, *Report, error)) (R, error) {
	for try := 1; ; try++ {
		r, report, err := measure()
		if err == nil {
			err = report.Corrected()
		}
		switch {
		case !errors.Is(err, ErrUncorrected) || try == tries:
			return r, err
		case k.Short:
			log.Printf("%v: the figures that follow are worth nothing", err)
			return r, nil
		}
		log.Printf("%v; once more", err)
	}
}
