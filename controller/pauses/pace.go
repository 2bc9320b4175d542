package pauses

import "time"

const (
	// longestPause is what a batch should stop all threads for at the most.
	longestPause = 40 * time.Millisecond
	hurriedPause = 120 * time.Millisecond
	leastBatch   = 4 // classes
	mostBatch    = 500
)

// A Pace is how many classes are redefined at one time, by the pauses that
// batches have caused in this target: a fixed time for each, and some for each
// class. It grows while pauses are short, and halves at most when one was long,
// which another safepoint may have been to blame for. Where the fixed time alone
// is long, as on a busy machine, small batches would only make more such pauses:
// the classes may then take half as long again.
type Pace struct {
	Size    int           // classes
	longest time.Duration // that a batch should stop all threads for

	// Sums over batches, the weight of older ones fading: for the line of pauses
	// (ns) over classes that fits best.
	weight, classes, squares, pauses, products float64
}

const (
	paceFading = 0.9
	paceSpread = 0.02 // variance of classes by their squared mean that a line takes
)

// FirstPace is a pace for a JVM of which nothing was measured. Before JDK 17 each
// class costs 1.6 ms of everybody's pause.
func FirstPace(java int) Pace {
	if java < 17 {
		return Pace{Size: 10, longest: longestPause}
	}
	return Pace{Size: 100, longest: longestPause}
}

// Hurried is the pace where nobody waits for a class: fewer and longer pauses. From JDK
// 17 on most of a pause is a fixed time for each batch.
func Hurried(java int) Pace {
	if java < 17 {
		return Pace{Size: 20, longest: hurriedPause}
	}
	return Pace{Size: mostBatch, longest: hurriedPause}
}

// Note takes the pause that a batch of n classes caused.
func (p *Pace) Note(n int, pause time.Duration) {
	if n == 0 {
		return
	}
	p.add(float64(n), min(pause, 5*p.longest))
	switch fit := p.fit(); {
	case pause > p.longest && fit < p.Size:
		p.Size = max(leastBatch, fit, p.Size/2)
	case n >= p.Size && fit > p.Size:
		p.Size = min(mostBatch, fit, p.Size+p.Size/2)
	}
}

func (p *Pace) add(n float64, pause time.Duration) {
	for _, s := range []*float64{&p.weight, &p.classes, &p.squares, &p.pauses, &p.products} {
		*s *= paceFading
	}
	p.weight++
	p.classes += n
	p.squares += n * n
	p.pauses += float64(pause)
	p.products += n * float64(pause)
}

// fit is how many classes make a pause as long as one may be. As long as all
// batches were of about the same size, the whole pause is taken for the classes'.
func (p *Pace) fit() int {
	fixed, each := 0.0, p.pauses/p.classes
	if d := p.weight*p.squares - p.classes*p.classes; d > paceSpread*p.classes*p.classes {
		each = max((p.weight*p.products-p.classes*p.pauses)/d, 1)
		fixed = max((p.pauses-each*p.classes)/p.weight, 0)
	}
	most := max(float64(p.longest), 1.5*fixed)
	return int(min((most-fixed)/each, mostBatch))
}
