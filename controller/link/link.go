package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// patience is how long the agent may take to make room in the FIFO of commands.
const patience = 10 * time.Second

// A Link is the controller's end of the connection with an agent. Hear may be
// called by another goroutine than the rest, which one goroutine at a time may use.
// Whoever made the files closes them.
type Link struct {
	data     *shm.File
	mail     *shm.Mailbox
	commands *os.File
	bell     *os.File
}

// New makes a link of a data file and two FIFOs. Both FIFOs must support deadlines.
func New(data *shm.File, commands, bell *os.File) *Link {
	return &Link{data: data, mail: shm.NewMailbox(data), commands: commands, bell: bell}
}

// Send hands a command to the agent's thread, which takes it when it has done what
// came before. It fails when the FIFO stays full for ten seconds, with
// [os.ErrDeadlineExceeded], or is closed.
func (l *Link) Send(c Command) error {
	if err := l.commands.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := l.commands.Write(wire.Command(c.command(), Encode(c)))
	return err
}

// A Call is a request that waits for its reply.
type Call struct {
	Request Request
	Box     int // for [Link.Reply]
}

// Poll returns the requests that have come since the last time. The target is not
// trusted: a request that makes no sense is answered with nothing, and err says
// so; calls is valid nevertheless.
func (l *Link) Poll() (calls []Call, err error) {
	reqs, err := l.mail.Poll()
	for _, q := range reqs {
		r, problem := read(q)
		if problem != nil {
			err = errors.Join(err, problem)
			l.mail.Reply(q.Box, nil)
			continue
		}
		calls = append(calls, Call{r, q.Box})
	}
	return calls, err
}

func read(q shm.Request) (Request, error) {
	row, ok := Requests[q.Type]
	if !ok {
		return nil, fmt.Errorf("unknown request %d", q.Type)
	}
	r := row.New()
	if err := Decode(r, q.Body); err != nil {
		return nil, fmt.Errorf("request %d: %w", q.Type, err)
	}
	return r, nil
}

// Reply answers a call, once; m may be nil. It reports false if nobody waits for the
// reply any more.
func (l *Link) Reply(box int, m Message) bool { return l.mail.Reply(box, Encode(m)) }

// HoldBoxes keeps the target from all boxes until release is called. It is for tests.
func (l *Link) HoldBoxes() (release func()) { return l.mail.HoldBoxes() }

// Hear calls look each time that the agent rings, until ctx ends, the bell is closed, or
// look fails. One ring may stand for several requests, and none is lost: what comes after
// look has begun rings again.
func (l *Link) Hear(ctx context.Context, look func() error) {
	stop := context.AfterFunc(ctx, func() {
		l.bell.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // a FIFO can
	})
	defer stop()
	b := make([]byte, 64)
	for {
		if _, err := l.bell.Read(b); err != nil {
			return
		}
		l.data.Bell(false)
		if look() != nil {
			return
		}
	}
}
