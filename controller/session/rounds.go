package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/pauses"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A job wants classes retransformed and to be told when that is done. left
// are those that the agent leaves to the waiting thread.
type job struct {
	classes []cha.ClassID
	all     bool // also what isn't initialized: nobody waits
	bytes   bool // for the sake of their bytes: also what is in force
	done    func(left []cha.ClassID)
}

// A round is the classes of all jobs that were waiting at one time; they are sent
// to the agent in batches.
type round struct {
	jobs    []*job
	classes []cha.ClassID // still to be sent
	batch   []cha.ClassID // with the agent
	left    map[cha.ClassID]bool
	again   []cha.ClassID // announced, but not defined yet
	tries   int
	all     bool

	first   cha.ClassID // of the batch, as the JVM came to it
	careful bool        // classes are verified before the JVM has them
	spoilt  bool        // one that it has does not verify
}

// enqueue takes a job on; jobs that come while the agent is busy go together.
func (l *loop) enqueue(j *job) {
	l.queue = append(l.queue, j)
	l.next()
}

func (l *loop) next() {
	if l.round != nil || len(l.queue) == 0 {
		return
	}
	r := &round{left: map[cha.ClassID]bool{}, all: l.queue[0].all}
	seen := map[cha.ClassID]bool{}
	var ids []cha.ClassID
	for len(l.queue) > 0 && l.queue[0].all == r.all {
		for _, id := range l.queue[0].classes {
			if !seen[id] && (l.queue[0].bytes || l.changes.pending(id)) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		r.jobs = append(r.jobs, l.queue[0])
		l.queue = l.queue[1:]
	}
	r.classes = discardLast(ids)
	l.s.stage.more(len(ids))
	l.round = r
	l.sendBatch()
}

func (l *loop) sendBatch() {
	r := l.round
	if len(r.classes) == 0 && len(r.again) > 0 {
		r.classes, r.again = r.again, nil
		r.tries++
		time.AfterFunc(time.Duration(r.tries)*time.Millisecond, func() { _ = l.s.do(l.s.ctx, l.sendBatch) })
		return
	}
	if len(r.classes) == 0 {
		l.round = nil
		for _, j := range r.jobs {
			var left []cha.ClassID
			for _, id := range j.classes {
				if r.left[id] {
					left = append(left, id)
				}
			}
			j.done(left)
		}
		l.next()
		l.calibrator.Resume()
		return
	}
	l.batch++
	if l.pace.Size == 0 {
		l.pace = pauses.FirstPace(l.s.proc.Major())
	}
	n := min(l.pace.Size, len(r.classes))
	r.batch, r.classes = r.classes[:n], r.classes[n:]
	r.first, r.careful, r.spoilt = cha.ClassID{}, false, false
	l.stats.batches++
	l.stats.classes += n
	l.beginPauses()
	l.stall.sign()
	l.compilers.Redefined()
	l.listener.heard = time.Now() // the first class is about to come
	l.send(&link.Retransform{Batch: l.batch, All: r.all, Classes: r.batch})
}

func (l *loop) onBatch(q *link.Batch) {
	took := time.Duration(q.Took)
	for _, row := range q.Rows {
		switch row.Code {
		case wire.OutcomeLeft:
			if l.round != nil {
				l.round.left[row.ID] = true
			}
		case wire.OutcomeGone:
			l.gone(row.ID)
		default:
			l.refused(row.ID, row.Reason)
		}
	}
	if l.stats.took == 0 {
		if err := noteFlushed(l.s.proc); err != nil {
			l.s.log.Debug("the next session is not going to know that classes were redefined", "reason", err)
		}
	}
	l.stats.took += took
	if w := l.s.watching; w != nil {
		w.rounds++
	}
	if l.round == nil || q.Number != l.batch {
		return
	}
	for _, id := range l.round.batch {
		if !l.round.left[id] {
			l.settled(id)
		}
	}
	done := len(l.round.batch)
	l.s.stage.step(done)
	l.round.batch = nil
	pause := l.endPauses(done)
	l.s.log.Debug("batch", "number", q.Number, "classes", done, "took", took, "pause", pause, "next", l.pace.Size, "analysis", l.stats.analysis)
	l.markBatch(done, took, pause)
	l.sendBatch()
}
