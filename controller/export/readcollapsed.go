package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// collapsedPeriod is what a sample of a collapsed file is taken to stand for: the file
// doesn't say, and this is async-profiler's interval where nobody gave one.
const collapsedPeriod = 10 * time.Millisecond

// mostFrames bounds the depth of a stack.
const mostFrames = 1 << 16

// threadFrame is the frame that async-profiler's option "threads" begins stacks with.
var threadFrame = regexp.MustCompile(`^\[(.*) tid=[0-9]+\]$`)

// readCollapsed reads collapsed stacks, as flame graph tools take them: frames from the
// root down with semicolons between, a blank, and how many samples. Errors name the line,
// and wrap [ErrNotReport].
func readCollapsed(in io.Reader) (*Report, error) {
	var t stackTree
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), 64<<20)
	var stack []foreignFrame
	names := map[string]string{}
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimRight(lines.Text(), " \r")
		if line == "" {
			continue
		}
		text, n, ok := collapsedLine(line)
		if !ok {
			return nil, fmt.Errorf("%w: collapsed stacks, line %d: no stack, blank, and number of samples", ErrNotReport, number)
		}
		if strings.Count(text, ";") >= mostFrames {
			return nil, fmt.Errorf("%w: collapsed stacks, line %d: more than %d frames", ErrNotReport, number, mostFrames)
		}
		if n > (math.MaxInt64/2-t.samples*int64(collapsedPeriod))/int64(collapsedPeriod) {
			return nil, fmt.Errorf("%w: collapsed stacks, line %d: more samples than can be added up", ErrNotReport, number)
		}
		thread := ""
		stack = stack[:0]
		for f := range strings.SplitSeq(text, ";") {
			if m := threadFrame.FindStringSubmatch(f); m != nil && len(stack) == 0 {
				thread = m[1]
				continue
			}
			name, known := names[f]
			if !known {
				if name = methodName(f); name == "" {
					name = "(no name)"
				}
				names[f] = name
			}
			stack = append(stack, foreignFrame{name: name})
		}
		t.add(thread, stack, n, n*int64(collapsedPeriod), 0)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("collapsed stacks: %w", err)
	}
	if t.samples == 0 {
		return nil, fmt.Errorf("%w: collapsed stacks without a sample", ErrNotReport)
	}
	return t.report(collapsedSource, CPUMode, 0, 0,
		"Collapsed stacks don't say what a sample stands for: times are in samples of 10 ms. Shares don't depend on it.",
		"Collapsed stacks don't say how often methods were entered."), nil
}

// collapsedLine cuts a line into its stack and its number of samples, which is above 0.
func collapsedLine(line string) (stack string, samples int64, ok bool) {
	line = strings.TrimRight(line, " \r")
	i := strings.LastIndexByte(line, ' ')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(line[i+1:], 10, 64)
	return line[:i], n, err == nil && n > 0
}
