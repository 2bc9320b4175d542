package cct

import (
	"math"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Ages are the ranges of ages, see [AgeRange].
const Ages = wire.Ages

// AgeRange are the ages of a range, in collections survived, 0 <= i < [Ages]: 0, 1, 2 to 3, 4 to 7, 8 to 15, 16
// and more. The last one has no end: most is -1.
func AgeRange(i int) (least, most int64) {
	switch {
	case i == 0:
		return 0, 0
	case i == Ages-1:
		return 1 << (Ages - 2), -1
	}
	return 1 << (i - 1), 1<<i - 1
}

// A Survival is what became of the objects of a type that a context has allocated, estimated from
// those of them that were followed. Ages are ranges of collections survived, see
// [AgeRange]. It is never changed once it was made; sums are new ones.
type Survival struct {
	Tracked  int64 // objects that were followed
	Survived int64 // of those, the ones that have survived a collection

	// Variance is that of the estimate of how many objects survived, in objects squared; 0 where all
	// were followed. It is the sum of the contexts' own.
	Variance float64

	// Live are objects that were not known to be gone when the tree was read, Gone the others, by
	// the age that they had then. They are estimates.
	Live, Gone Aged
}

// Aged are objects by age.
type Aged struct {
	Objects [Ages]int64
	Bytes   [Ages]int64 // 0 where they are not known
}

// Older sums those that have survived a collection at least.
func (a *Aged) Older() (objects, bytes int64) {
	for i := 1; i < Ages; i++ {
		objects, bytes = objects+a.Objects[i], bytes+a.Bytes[i]
	}
	return objects, bytes
}

func (a *Aged) add(o *Aged) {
	for i := range a.Objects {
		a.Objects[i] += o.Objects[i]
		a.Bytes[i] += o.Bytes[i]
	}
}

// Older sums the objects that have survived a collection at least, live or gone.
func (s *Survival) Older() (objects, bytes int64) {
	if s == nil {
		return 0, 0
	}
	objects, bytes = s.Live.Older()
	more, moreBytes := s.Gone.Older()
	return objects + more, bytes + moreBytes
}

// Remaining sums those that have survived a collection and are not known to be gone.
func (s *Survival) Remaining() (objects, bytes int64) {
	if s == nil {
		return 0, 0
	}
	return s.Live.Older()
}

// Error is how far the number that survived may be off, in objects: 1.96 standard errors.
func (s *Survival) Error() float64 {
	if s == nil {
		return 0
	}
	return 1.96 * math.Sqrt(s.Variance)
}

// sized is the same of objects of this size in bytes, which was not known when it was read.
func (s *Survival) sized(size int64) *Survival {
	if s == nil || size < 0 {
		return s
	}
	t := *s
	for i := range Ages {
		t.Live.Bytes[i], t.Gone.Bytes[i] = t.Live.Objects[i]*size, t.Gone.Objects[i]*size
	}
	return &t
}

// plusSurvival is the sum of both; either may be nil.
func plusSurvival(a, b *Survival) *Survival {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	sum := *a
	sum.Tracked += b.Tracked
	sum.Survived += b.Survived
	sum.Variance += b.Variance
	sum.Live.add(&b.Live)
	sum.Gone.add(&b.Gone)
	return &sum
}

// survival reads the block that belongs to a type's node; nil if none of its objects was followed.
func (r *reader) survival(off int, a *Alloc) *Survival {
	at := int(r.half(off + wire.NCache))
	if at == 0 {
		return nil
	}
	last := func() uint32 { return index(uint32(at)) + wire.TrackNodes - 1 }
	if i := index(uint32(at)); i == 0 || last() >= r.limit {
		if r.grow(); i == 0 || last() >= r.limit {
			r.bad++
			return nil
		}
	}
	s := &Survival{Tracked: count(r.word(at + wire.KTracked)), Survived: count(r.word(at + wire.KSurvived))}
	aged := func(a *Aged, objects, bytes int) {
		for i := range a.Objects {
			a.Objects[i] = count(r.word(at + objects + 8*i))
			a.Bytes[i] = count(r.word(at + bytes + 8*i))
		}
	}
	aged(&s.Live, wire.KLive, wire.KLiveBytes)
	aged(&s.Gone, wire.KGone, wire.KGoneBytes)
	return s.scale(a, float64(count(r.word(at+wire.KSquares))))
}

// scale makes estimates of all objects of what those stand for that were followed. squares is the sum
// of the squares of how many each of them stands for: as many objects of equal weight as follows from it
// say as much (L. Kish, Survey Sampling, 1965). The result is nil if there is nothing to go by.
func (s *Survival) scale(a *Alloc, squares float64) *Survival {
	var stood, stoodBytes float64
	for i := range Ages {
		stood += float64(s.Live.Objects[i]) + float64(s.Gone.Objects[i])
		stoodBytes += float64(s.Live.Bytes[i]) + float64(s.Gone.Bytes[i])
	}
	if stood == 0 || squares == 0 {
		return nil
	}
	objects, bytes, n := 1.0, 1.0, stood*stood/squares
	if s.Tracked >= enough {
		if objects = float64(a.Objects) / stood; stoodBytes > 0 && a.Bytes >= 0 {
			bytes = float64(a.Bytes) / stoodBytes
		}
	}
	for _, g := range []*Aged{&s.Live, &s.Gone} {
		for i := range g.Objects {
			g.Objects[i] = int64(math.Round(float64(g.Objects[i]) * objects))
			g.Bytes[i] = int64(math.Round(float64(g.Bytes[i]) * bytes))
			if !a.Type.Array {
				g.Bytes[i] = g.Objects[i] * max(a.Type.Size, 0)
			}
		}
	}
	if n >= float64(a.Objects) {
		return s
	}
	// Two objects that have survived and two that have not are added, so that few of one kind make no
	// certainty (Agresti and Coull, 1998).
	survived, _ := s.Older()
	all := float64(a.Objects)
	share := (min(float64(survived)/all, 1)*n + 2) / (n + 4)
	s.Variance = all * all * share * (1 - share) / (n + 4)
	return s
}

// enough objects of a context must have been followed for the share of them that survived to be that of all.
// Of fewer, each says what it stands for: where some contexts have lost all of theirs, those of
// others stand for them.
const enough = 8
