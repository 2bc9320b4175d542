package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// lookingInto is a server that looks into JVMs by a function; it has ended when end returns.
func lookingInto(t *testing.T, look InsideFunc) (s *Server, end func()) {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Config{Backend: fakejvm.New(), Inside: look})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	return s, func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

// last is the last line of an answer.
func last(t *testing.T, text string) (a answered) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestInsideRefused: what makes no sense reaches no JVM.
func TestInsideRefused(t *testing.T) {
	s, end := lookingInto(t, func(context.Context, context.Context, InsideQuery, func(Step)) (any, error) {
		t.Error("it has looked")
		return nil, nil
	})
	defer end()
	for body, want := range map[string]string{
		`{"what":"threads"}`:                            "pid",
		`{"pid":-1,"what":"threads"}`:                   "pid",
		`{"pid":1,"what":"soul"}`:                       "what=soul",
		`{"pid":1,"what":"threads","seconds":301}`:      "0 to 300",
		`{"pid":1,"what":"threads","seconds":-1}`:       "0 to 300",
		`{"pid":1,"what":"loads"}`:                      "give a time",
		`{"pid":1,"what":"locks","exact":true}`:         "give a time",
		`{"pid":1,"what":"threads","timeline":true}`:    "give a time",
		`{"pid":1,"what":"threads","shell":"rm"}`:       "unknown field",
		`{"pid":1,"what":"heap","source":99}`:           "no such snapshot",
		`{"pid":1,"what":"heap","source":0}`:            "nothing has been recorded",
		`{"pid":1,"what":"threads"}{"pid":1,"what":""}`: "something follows",
	} {
		if code, text := s.call(t, "inside", body); code < 400 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	if code, _ := s.call(t, "inside/end", "{}"); code != http.StatusConflict {
		t.Errorf("ended what nobody has begun: %d", code)
	}
	if code, text := s.call(t, "inside?pid=1&what=threads", ""); code != 200 || strings.TrimSpace(text) != "null" {
		t.Errorf("%d %s", code, text)
	}
}

// TestInside: what is done comes line by line, then the answer, which stays; one look goes on at a time, and can be ended early.
func TestInside(t *testing.T) {
	begun := make(chan struct{})
	s, end := lookingInto(t, func(first, _ context.Context, q InsideQuery, tell func(Step)) (any, error) {
		switch q.What {
		case "locks":
			close(begun)
			<-first.Done()
			return map[string]int{"waits": 3}, nil
		case "heap":
			return nil, errors.New("no room\x1b[31m")
		case "loads":
			panic("a fault")
		}
		tell(Step{Phase: "dumping", Done: 5})
		tell(Step{Text: "it stood still \x1b[31m for 3 ms\n"})
		return map[string]string{"name": "evil\x1b[31m"}, nil
	})
	defer end()
	code, text := s.call(t, "inside", `{"pid":1,"what":"threads"}`)
	if a := last(t, text); code != 200 || len(a.Said) != 1 || strings.ContainsRune(a.Said[0], 27) || a.Error != "" || a.Taken.IsZero() || !strings.HasPrefix(text, `{"phase":"dumping","done":5}`) {
		t.Errorf("%d %s", code, text)
	}
	if _, kept := s.call(t, "inside?pid=1&what=threads", ""); !strings.Contains(kept, `"name":"evil`) {
		t.Error(kept)
	}
	if _, kept := s.call(t, "inside?pid=2&what=threads", ""); strings.TrimSpace(kept) != "null" {
		t.Error(kept)
	}
	if _, text = s.call(t, "inside", `{"pid":1,"what":"heap"}`); !strings.Contains(last(t, text).Error, "no room") || strings.Contains(text, `\u001b`) {
		t.Error(text)
	}
	if _, text = s.call(t, "inside", `{"pid":1,"what":"loads","seconds":1}`); strings.Contains(text, "a fault\"") {
		t.Error(text)
	}
	answered := make(chan string)
	go func() {
		_, text := s.call(t, "inside", `{"pid":1,"what":"locks","seconds":300}`)
		answered <- text
	}()
	<-begun
	// Others wait for their turn, up to so many.
	type answer struct {
		code int
		text string
	}
	waiting := make(chan answer)
	for range mostWait + 1 {
		go func() {
			code, text := s.call(t, "inside", `{"pid":2,"what":"threads"}`)
			waiting <- answer{code, text}
		}()
	}
	if a := <-waiting; a.code != http.StatusConflict || !strings.Contains(a.text, "a look at locks of process 1 goes on, and 8 others wait") {
		t.Errorf("%+v", a)
	}
	if code, text := s.call(t, "inside/end", "{}"); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	if text := <-answered; string(last(t, text).Result) != `{"waits":3}` {
		t.Error(text)
	}
	for range mostWait {
		if a := <-waiting; a.code != 200 || !strings.HasPrefix(a.text, `{"phase":"waiting for a look at locks of process 1"}`) || last(t, a.text).Error != "" {
			t.Errorf("%+v", a)
		}
	}
}

// TestInsideEnds: a client that goes away ends its look, and the server waits for what a look has to remove.
func TestInsideEnds(t *testing.T) {
	begun, over := make(chan struct{}, 2), make(chan bool, 2)
	s, end := lookingInto(t, func(_, second context.Context, _ InsideQuery, _ func(Step)) (any, error) {
		begun <- struct{}{}
		<-second.Done()
		over <- true
		return nil, second.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Address()+"/api/inside", strings.NewReader(`{"pid":1,"what":"heap"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	req.Header.Set("Content-Type", "application/json")
	gone := make(chan error)
	go func() {
		r, err := http.DefaultClient.Do(req)
		if err == nil {
			r.Body.Close()
		}
		gone <- err
	}()
	<-begun
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-over
	left := make(chan string)
	go func() {
		_, text := s.call(t, "inside", `{"pid":1,"what":"threads"}`)
		left <- text
	}()
	<-begun
	end()
	select {
	case <-over:
	default:
		t.Error("the server has ended before the look")
	}
	if text := <-left; last(t, text).Error == "" {
		t.Error(text)
	}
}
