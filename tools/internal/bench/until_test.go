package bench

import (
	"errors"
	"testing"
)

func TestUntil(t *testing.T) {
	var good, bad Report
	good.Time.Charged, good.Calibration = new(int64), &Calibration{}
	count := 0
	run := func(k *Kit, reports ...*Report) error {
		count = 0
		_, err := Until(k, func() (int, *Report, error) {
			r := reports[min(count, len(reports)-1)]
			count++
			if r == nil {
				return 0, nil, errors.New("broken")
			}
			return 0, r, nil
		})
		return err
	}
	if err := run(&Kit{}, &bad, &good); err != nil || count != 2 {
		t.Errorf("%v after %d", err, count)
	}
	if err := run(&Kit{}, &bad); !errors.Is(err, ErrUncorrected) || count != tries {
		t.Errorf("%v after %d", err, count)
	}
	if err := run(&Kit{Options: Options{Short: true}}, &bad); err != nil || count != 1 {
		t.Errorf("short: %v after %d", err, count)
	}
	if err := run(&Kit{}, nil); err == nil || count != 1 {
		t.Errorf("%v after %d", err, count)
	}
}
