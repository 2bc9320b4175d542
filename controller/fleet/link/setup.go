package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// repeatsWithin is how long the broker remembers ids of messages.
const repeatsWithin = 10 * time.Minute

// Limits bound what a broker keeps.
type Limits struct {
	Disk     int64         // bytes in all, on each of the servers that keep a copy
	Reports  time.Duration // how long results stay
	Replicas int           // copies, of a cluster; 1 of a hub
}

// parts of the disk's room, in hundredths.
const (
	partCommands = 2
	partResults  = 28
	partNodes    = 2
	partAudit    = 8
	partReports  = 35
	partEvents   = 5
	partDumps    = 20
)

// Setup makes what the broker keeps, or changes it to these limits. A stream that is full
// refuses new messages, so that nodes keep their results; the audit log, events and what nodes
// say of themselves forget the oldest.
func (l *Link) Setup(ctx context.Context, o Limits) error {
	room := func(part int64) int64 { return max(o.Disk*part/100, 1<<20) }
	streams := []jetstream.StreamConfig{
		{
			Name: fleet.StreamCommands, Subjects: []string{fleet.AllCommands}, MaxBytes: room(partCommands),
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxAge: 24 * time.Hour,
		},
		{
			Name: fleet.StreamResults, Subjects: []string{fleet.AllResults, fleet.AllRuns}, MaxBytes: room(partResults),
			Discard: jetstream.DiscardNew, MaxAge: o.Reports,
		},
		{
			Name: fleet.StreamNodes, Subjects: []string{fleet.AllNodes}, MaxBytes: room(partNodes),
			MaxMsgsPerSubject: 1, MaxAge: 7 * 24 * time.Hour,
		},
		{
			Name: fleet.StreamAudit, Subjects: []string{fleet.AllAudit}, MaxBytes: room(partAudit),
			DenyDelete: true, DenyPurge: true,
		},
		{
			Name: fleet.StreamEvents, Subjects: []string{fleet.AllEvents}, MaxBytes: room(partEvents), MaxAge: o.Reports,
		},
	}
	for _, s := range streams {
		s.Storage, s.Replicas, s.Duplicates, s.AllowDirect = jetstream.FileStorage, o.Replicas, repeatsWithin, true
		if s.MaxAge > 0 && s.MaxAge < s.Duplicates {
			s.Duplicates = s.MaxAge
		}
		if err := insist(ctx, func(ctx context.Context) error { _, err := l.js.CreateOrUpdateStream(ctx, s); return err }); err != nil {
			return fmt.Errorf("the broker does not set up %s: %w", s.Name, err)
		}
	}
	for bucket, part := range map[string]int64{fleet.BucketReports: partReports, fleet.BucketDumps: partDumps} {
		c := jetstream.ObjectStoreConfig{Bucket: bucket, MaxBytes: room(part), TTL: o.Reports, Storage: jetstream.FileStorage, Replicas: o.Replicas}
		if err := insist(ctx, func(ctx context.Context) error { _, err := l.js.CreateOrUpdateObjectStore(ctx, c); return err }); err != nil {
			return fmt.Errorf("the broker does not set up %s: %w", bucket, err)
		}
	}
	return nil
}

// insist asks again where there is no answer, as from a cluster that has no leader yet.
func insist(ctx context.Context, ask func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, answerWithin)
		err := ask(one)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled) && !errors.Is(err, jetstream.ErrNoStreamResponse) {
			return err
		}
		sleep(ctx, shortestPause)
	}
}

// ErrNotSetUp is a broker that keeps nothing of a fleet yet.
var ErrNotSetUp = errors.New("the broker is not set up for a fleet: run rivulet hub setup --nats URL once")

// store is an object store.
func (l *Link) store(ctx context.Context, bucket string) (jetstream.ObjectStore, error) {
	l.mu.Lock()
	s := l.stores[bucket]
	l.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := l.js.ObjectStore(ctx, bucket)
	switch {
	case errors.Is(err, jetstream.ErrBucketNotFound):
		return nil, ErrNotSetUp
	case err != nil:
		return nil, err
	}
	l.mu.Lock()
	l.stores[bucket] = s
	l.mu.Unlock()
	return s, nil
}
