package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// A Delivery is a command as it came; Ack tells the broker that it is on disk here. What is
// not acknowledged comes again.
type Delivery struct {
	Subject string
	Data    []byte
	Ack     func()
}

// mostSilent is how often a consumer may say nothing, each time for two heartbeats, before
// another one takes its place: one that has lost its leader in a cluster.
const mostSilent = 2

// longestWait bounds how long a hub may take to give a node its place.
const longestWait = 2 * time.Minute

// Commands takes a node's commands until ctx is done, one at a time, and once or more
// often. A broker that is away is waited for; say is told why nothing comes.
func (l *Link) Commands(ctx context.Context, node string, take func(Delivery), say func(string)) {
	last := ""
	tell := func(err error) {
		if text := err.Error(); ctx.Err() == nil && text != last {
			last = text
			say("no commands come: " + text)
		}
	}
	within := answerWithin // longer each time, since a hub to which all nodes come back at once is slow
	silent := 0            // times in a row that the consumer has said nothing
	for ; ctx.Err() == nil; sleep(ctx, shortestPause) {
		if silent >= mostSilent {
			// What it had delivered and was not acknowledged comes again to the next one.
			one, cancel := context.WithTimeout(ctx, answerWithin)
			if err := l.js.DeleteConsumer(one, fleet.StreamCommands, fleet.Consumer(node)); err == nil {
				silent = 0
			}
			cancel()
		}
		one, cancel := context.WithTimeout(ctx, within)
		c, err := l.js.CreateOrUpdateConsumer(one, fleet.StreamCommands, jetstream.ConsumerConfig{
			Durable: fleet.Consumer(node), FilterSubject: fleet.DoFilter(node),
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: -1,
			InactiveThreshold: 7 * 24 * time.Hour, // longer than commands are kept
		})
		cancel()
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			tell(ErrNotSetUp)
			continue
		case err != nil:
			within = min(2*within, longestWait)
			tell(err)
			continue
		}
		within = answerWithin
		it, err := c.Messages(jetstream.PullMaxMessages(64), jetstream.PullHeartbeat(5*time.Second), jetstream.PullExpiry(30*time.Second))
		if err != nil {
			tell(err)
			continue
		}
		last = ""
		stop := context.AfterFunc(ctx, it.Stop)
		for {
			m, err := it.Next()
			if err != nil {
				if silent++; !errors.Is(err, jetstream.ErrNoHeartbeat) {
					silent = 0
				} else if !l.nc.IsConnected() {
					break // that is said already
				}
				tell(err)
				break
			}
			silent = 0
			take(Delivery{m.Subject(), m.Data(), func() { _ = m.Ack() }}) // not acknowledged: it comes again
		}
		stop()
		it.Stop()
	}
}

// Answer says what the node is to all who ask, until ctx is done.
func (l *Link) Answer(ctx context.Context, what func() *fleet.Node) error {
	asked := make(chan *nats.Msg, 256)
	sub, err := l.nc.ChanSubscribe(fleet.AllAsk, asked)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be closed
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-asked:
			data, err := json.Marshal(what())
			if err != nil {
				return err
			}
			_ = m.Respond(data) // who asked asks again
		}
	}
}

// Here keeps what the node is, for those who ask when it is away.
func (l *Link) Here(ctx context.Context, n *fleet.Node) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = l.js.Publish(ctx, fleet.NodeSubject(n.Name), data)
	return err
}

// SendResult brings a result to the broker, for as long as that takes. say is told if it
// takes long. The error is that of ctx, or wraps [ErrRefused].
func (l *Link) SendResult(ctx context.Context, h *fleet.Head, report []byte, say func(string)) error {
	h.Seal(report)
	if len(report) > fleet.MostInline {
		h.Object = h.ID()
		if err := l.again(ctx, say, func() error { return l.put(ctx, h.Object, report) }); err != nil {
			return err
		}
		report = nil
	}
	data, err := fleet.Pack(h, report)
	if err != nil {
		return err
	}
	return l.keep(ctx, fleet.ResultSubject(h.Run, h.Target), h.ID(), data, say)
}

// put has an object in the store of reports. Its name says its content, so one that is
// there already is the same.
func (l *Link) put(ctx context.Context, name string, b []byte) error {
	s, err := l.store(ctx, fleet.BucketReports)
	if err != nil {
		return err
	}
	one, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if info, err := s.GetInfo(one, name); err == nil && info.Size == uint64(len(b)) {
		return nil
	}
	long, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	_, err = s.Put(long, jetstream.ObjectMeta{Name: name}, bytes.NewReader(b))
	return err
}

// Say tells whoever listens how far the node is with a command.
func (l *Link) Say(run, node string, p fleet.Progress) {
	if data, err := json.Marshal(p); err == nil {
		_ = l.nc.Publish(fleet.ProgressSubject(run, node), data) // of use at the moment only
	}
}

// SendAudit keeps a line of who did what, for as long as that takes.
func (l *Link) SendAudit(ctx context.Context, id string, a *fleet.Audit) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return l.keep(ctx, fleet.AuditSubject(a.Node), id, data, nil)
}

// SendEvent keeps an event, for as long as that takes. id tells it from all others of its node.
func (l *Link) SendEvent(ctx context.Context, id string, e *fleet.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return l.keep(ctx, fleet.EventSubject(e.Node), id, data, nil)
}
