package spec

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const warmupForm = "give a time such as 5s or a number of root calls such as 500"

// setWarmup reads a warm-up: a time, or a number of root invocations; 0 is none.
func (r *Recording) setWarmup(value string) error {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
		r.Warmup, r.WarmupCalls = 0, n
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return wrong("warmup", value, warmupForm)
	}
	r.Warmup, r.WarmupCalls = d, 0
	return nil
}

func (r *Recording) warmup() string {
	if r.WarmupCalls > 0 {
		return strconv.FormatInt(r.WarmupCalls, 10)
	}
	return duration(r.Warmup)
}

// duration is a time as it is read again; "0" is none.
func duration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return d.String()
}

// ParseSize reads a number of bytes, with K, M or G for powers of 1024: "512M". The
// error says which form a size has.
func ParseSize(text string) (int64, error) {
	number, shift := strings.TrimSuffix(strings.ToUpper(text), "B"), 0
	for i, unit := range []string{"K", "M", "G"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = n, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return 0, errors.New("give a size such as 512M")
	}
	return n << shift, nil
}
