package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// An outbox is a folder of messages that the broker has not got yet. Several goroutines may keep messages at a time.
type outbox struct {
	dir  string
	most int           // messages: beyond it the oldest are dropped; 0 is without bound
	more chan struct{} // there are new ones
}

func newOutbox(dir string, most int) (*outbox, error) {
	return &outbox{dir: dir, most: most, more: make(chan struct{}, 1)}, os.MkdirAll(dir, 0o700)
}

var messages atomic.Int64

// keep has a message on disk when it returns. Messages are sent in the order of their times.
func (o *outbox) keep(at time.Time, message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d-%06d.json", at.UTC().Format("20060102T150405.000000000"), os.Getpid(), messages.Add(1))
	temp := filepath.Join(o.dir, "."+name)
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(o.dir, name)); err != nil {
		return err
	}
	if o.most > 0 {
		for entries, _ := os.ReadDir(o.dir); len(entries) > o.most; entries = entries[1:] {
			os.Remove(filepath.Join(o.dir, entries[0].Name()))
		}
	}
	select {
	case o.more <- struct{}{}:
	default:
	}
	return nil
}

// deliver brings the messages of an outbox to the broker, in their order, until ctx is done. id tells a message from all
// others of the node.
func deliver[T any](ctx context.Context, o *outbox, send func(ctx context.Context, id string, message *T) error) {
	for {
		entries, _ := os.ReadDir(o.dir) // made at the start
		for _, e := range entries {
			path := filepath.Join(o.dir, e.Name())
			b, err := os.ReadFile(path)
			message := new(T)
			if e.Name()[0] == '.' || err != nil || json.Unmarshal(b, message) != nil {
				continue
			}
			one, cancel := context.WithTimeout(ctx, 5*time.Second)
			err = send(one, e.Name(), message)
			cancel()
			if err != nil {
				break
			}
			os.Remove(path)
		}
		select {
		case <-ctx.Done():
			return
		case <-o.more:
		case <-time.After(5 * time.Second):
		}
	}
}
