package session

import "time"

const (
	// longestPause is what a batch should stop all threads for at the most.
	longestPause = 40 * time.Millisecond
	leastBatch   = 4 // classes
	mostBatch    = 500
)

// A pace is how many classes are redefined at one time, by the pauses that
// batches have caused in this target: it grows while they are short, and halves
// at most when one was long, which another safepoint may have been to blame for.
type pace struct{ size int }

// firstPace is a pace for a JVM of which nothing was measured. Before JDK 17 each
// class costs 1.6 ms of everybody's pause.
func firstPace(java int) pace {
	if java < 17 {
		return pace{10}
	}
	return pace{100}
}

// note takes the pause that a batch of n classes caused.
func (p *pace) note(n int, pause time.Duration) {
	switch {
	case n == 0:
	case pause > longestPause:
		fit := int(float64(n) * float64(longestPause) / float64(pause))
		p.size = max(leastBatch, min(p.size, max(fit, n/2)))
	case pause < longestPause/2 && n >= p.size:
		p.size = min(mostBatch, p.size+p.size/2)
	}
}
