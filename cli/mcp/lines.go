package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine bounds a message of a client, in bytes.
const mostLine = 4 << 20

// Over is a transport of messages, one a line. A line that is no message is answered
// with an error, as JSON-RPC 2.0 (section 5.1) says, and the next one is read: the SDK's
// own transport ends at it. The transport owns neither in nor out; it ends with in.
func Over(in io.Reader, out io.Writer) mcp.Transport {
	w := &lockedWriter{w: out}
	r, pipe := io.Pipe()
	go func() { pipe.CloseWithError(pass(in, pipe, w)) }()
	return &mcp.IOTransport{Reader: r, Writer: w}
}

// pass copies lines that are messages.
func pass(in io.Reader, to io.Writer, answers io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			continue
		}
		var message struct {
			Version string `json:"jsonrpc"`
		}
		var problem string
		switch err := json.Unmarshal(line, &message); {
		case !json.Valid(line):
			problem = `{"code":-32700,"message":"the line is no JSON"}`
		case err != nil || message.Version != "2.0":
			problem = `{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}`
		}
		var err error
		if problem != "" {
			_, err = fmt.Fprintf(answers, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":%s}\n", problem)
		} else {
			_, err = fmt.Fprintf(to, "%s\n", line)
		}
		if err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a message of more than %d MB", mostLine>>20)
	}
	return lines.Err() // nil: io.EOF
}

// A lockedWriter is for several goroutines, each of which writes whole lines. It does not
// close what it writes to.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lockedWriter) Close() error { return nil }
