package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// Send implements [fleet.Carrier]. A broker that can't be reached is waited for, as long
// as begin says.
func (l *Link) Send(ctx context.Context, c *fleet.Command, node string, begin time.Duration) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, begin)
	defer cancel()
	return l.keep(ctx, fleet.DoSubject(l.Key.User, fleet.NeedOf(c.Do, l.Key.Role), node, c.Run), c.ID(), data, nil)
}

// answerWithin is how long the broker may take for an answer: a request that was sent
// while it was away has none.
const answerWithin = 5 * time.Second

// messages are those of a stream that pass a filter, from the first, until ctx is done.
// Each is delivered once or more often. A broker that is away is waited for. untilIdle
// ends them when there are no more for now.
func (l *Link) messages(ctx context.Context, stream, filter string, untilIdle bool, take func(jetstream.Msg)) error {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, answerWithin)
		c, err := l.js.OrderedConsumer(one, stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}, DeliverPolicy: jetstream.DeliverAllPolicy})
		cancel()
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			return ErrNotSetUp
		case err != nil:
			if untilIdle {
				return err
			}
			sleep(ctx, shortestPause)
			continue
		}
		if untilIdle {
			return drain(ctx, c, take)
		}
		it, err := c.Messages(jetstream.PullHeartbeat(2*time.Second), jetstream.PullExpiry(10*time.Second))
		if err != nil {
			sleep(ctx, shortestPause)
			continue
		}
		stop := context.AfterFunc(ctx, it.Stop)
		for {
			m, err := it.Next()
			if err != nil {
				break // begin again: readers drop what they have
			}
			take(m)
		}
		stop()
		it.Stop()
		sleep(ctx, shortestPause)
	}
	return ctx.Err()
}

// drain takes what there is now.
func drain(ctx context.Context, c jetstream.Consumer, take func(jetstream.Msg)) error {
	for ctx.Err() == nil {
		batch, err := c.Fetch(1000, jetstream.FetchMaxWait(300*time.Millisecond))
		if err != nil {
			return err
		}
		n := 0
		for m := range batch.Messages() {
			n++
			take(m)
		}
		if n == 0 {
			return batch.Error()
		}
	}
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Results implements [fleet.Carrier]. Reports in the object store are fetched before a
// result is delivered; what is damaged is not delivered.
func (l *Link) Results(ctx context.Context, run string) (<-chan *fleet.Result, error) {
	out := make(chan *fleet.Result, 16)
	got := map[string]bool{}
	go func() {
		defer close(out)
		_ = l.messages(ctx, fleet.StreamResults, fleet.ResultFilter(run), false, func(m jetstream.Msg) {
			r, err := fleet.Unpack(m.Data())
			if err != nil || got[r.ID()] {
				return
			}
			if r.Object != "" {
				if r.Report, err = l.object(ctx, fleet.BucketReports, r.Object); err == nil {
					err = r.Check()
				}
				if err != nil {
					r.Report, r.Error = nil, fmt.Sprintf("its report can't be fetched: %v", err)
				}
			}
			got[r.ID()] = true
			select {
			case out <- r:
			case <-ctx.Done():
			}
		})
	}()
	return out, nil
}

// object fetches one, and waits for a broker that is away.
func (l *Link) object(ctx context.Context, bucket, name string) (b []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err = l.again(ctx, nil, func() error {
		s, err := l.store(ctx, bucket)
		if err != nil {
			return err
		}
		one, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		b, err = s.GetBytes(one, name)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return fmt.Errorf("%w: it is no longer kept", ErrRefused)
		}
		return err
	})
	return b, err
}

// Progress implements [fleet.Carrier].
func (l *Link) Progress(ctx context.Context, run string) (<-chan fleet.Progress, error) {
	out := make(chan fleet.Progress, 64)
	sub, err := l.nc.Subscribe(fleet.ProgressFilter(run), func(m *nats.Msg) {
		var p fleet.Progress
		if json.Unmarshal(m.Data, &p) != nil {
			return
		}
		select {
		case out <- p:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // the connection may be closed
	return out, nil
}

// times of asking who is there.
const (
	askAtLeast = 400 * time.Millisecond
	askIdle    = 300 * time.Millisecond
)

// heardLately is how much older than the newest what a node has said of itself may be for the
// node to be waited for: a node says it each half minute.
const heardLately = 90 * time.Second

// Nodes asks all nodes what they are. It waits until those have answered that were heard of lately,
// and then none for a while, at most for a time: a node whose host is busy takes some seconds. Those
// that are known and have not answered are away, as [Link.Known] has them.
func (l *Link) Nodes(ctx context.Context, most time.Duration) (here, away []fleet.Node, err error) {
	inbox := l.nc.NewRespInbox()
	sub, err := l.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be closed
	if err := l.nc.PublishRequest(fleet.AskSubject(l.Key.User), inbox, nil); err != nil {
		return nil, nil, err
	}
	known, err := l.Known(ctx)
	if err != nil {
		return nil, nil, err
	}
	awaited := lately(known)
	begun := time.Now()
	byName := map[string]fleet.Node{}
	for time.Since(begun) < most && ctx.Err() == nil {
		within := max(askIdle, min(askAtLeast, most)-time.Since(begun))
		if len(byName) == 0 || len(awaited) > 0 {
			within = max(most-time.Since(begun), time.Millisecond)
		}
		m, err := sub.NextMsg(within)
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		var n fleet.Node
		if json.Unmarshal(m.Data, &n) == nil && n.Name != "" {
			byName[n.Name] = n
			delete(awaited, n.Name)
		}
	}
	for _, n := range byName {
		here = append(here, n)
	}
	for _, n := range known {
		if _, answered := byName[n.Name]; !answered {
			away = append(away, n)
		}
	}
	return here, away, ctx.Err()
}

// lately are the names of nodes that were heard of lately. The times are all the broker's.
func lately(known []fleet.Node) map[string]bool {
	var newest time.Time
	for _, n := range known {
		if n.Seen.After(newest) {
			newest = n.Seen
		}
	}
	names := map[string]bool{}
	for _, n := range known {
		if newest.Sub(n.Seen) <= heardLately {
			names[n.Name] = true
		}
	}
	return names
}

// Known is what nodes have said of themselves last, those that do not answer now included.
// Nodes that were not heard of for a week are forgotten.
func (l *Link) Known(ctx context.Context) ([]fleet.Node, error) {
	byName := map[string]fleet.Node{}
	err := l.messages(ctx, fleet.StreamNodes, fleet.AllNodes, true, func(m jetstream.Msg) {
		var n fleet.Node
		if json.Unmarshal(m.Data(), &n) == nil && n.Name != "" {
			if md, err := m.Metadata(); err == nil {
				n.Seen = md.Timestamp
			}
			byName[n.Name] = n
		}
	})
	out := make([]fleet.Node, 0, len(byName))
	for _, n := range byName {
		out = append(out, n)
	}
	return out, err
}

// SaveRun keeps what a run is of, for [Link.Run].
func (l *Link) SaveRun(ctx context.Context, r *fleet.Run) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.keep(ctx, fleet.RunSubject(l.Key.User, r.Run), r.Run, data, nil)
}

// Runs are those that the broker still has, or one of them, in the order of their beginning.
func (l *Link) Runs(ctx context.Context, run string) ([]*fleet.Run, error) {
	filter := fleet.AllRuns
	if run != "" {
		filter = fleet.RunFilter(run)
	}
	var out []*fleet.Run
	err := l.messages(ctx, fleet.StreamResults, filter, true, func(m jetstream.Msg) {
		r := &fleet.Run{}
		if json.Unmarshal(m.Data(), r) == nil {
			out = append(out, r)
		}
	})
	return out, err
}

// Audit is what nodes have written down of who did what, since a time.
func (l *Link) Audit(ctx context.Context, since time.Time) ([]fleet.Audit, error) {
	var out []fleet.Audit
	seen := map[string]bool{}
	err := l.messages(ctx, fleet.StreamAudit, fleet.AllAudit, true, func(m jetstream.Msg) {
		var a fleet.Audit
		if json.Unmarshal(m.Data(), &a) == nil && a.Time.After(since) && !seen[string(m.Data())] {
			seen[string(m.Data())] = true
			out = append(out, a)
		}
	})
	return out, err
}

// mostSeen is how many events are remembered to tell those that come twice, and as many before them.
const mostSeen = 1 << 15

// Events are those since a time, by the nodes' clocks, as far as the broker has them: each once, those of a node in their
// order. With follow it goes on with those that come, until ctx is done; a broker that is away is waited for.
func (l *Link) Events(ctx context.Context, since time.Time, follow bool, take func(*fleet.Event)) error {
	type key struct {
		node, rule string
		pid        int
		at         int64
	}
	// An event that comes twice does so after the last few of its node.
	seen, before := map[key]bool{}, map[key]bool{}
	return l.messages(ctx, fleet.StreamEvents, fleet.AllEvents, !follow, func(m jetstream.Msg) {
		e := &fleet.Event{}
		if json.Unmarshal(m.Data(), e) != nil || e.Time.Before(since) {
			return
		}
		k := key{e.Node, e.Rule, e.JVM.PID, e.Time.UnixNano()}
		if seen[k] || before[k] {
			return
		}
		if len(seen) >= mostSeen {
			seen, before = map[key]bool{}, seen
		}
		seen[k] = true
		take(e)
	})
}
