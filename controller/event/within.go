package event

// Within bounds how many ns of a mark's pause lie between two times. The pause may
// have begun up to Off before or after Start. Where the mark is of several
// collections, each of them lies somewhere in that room. Both are 0 where the pause
// is not known.
func (k Mark) Within(from, to int64) (least, most int64) {
	if k.Pause <= 0 || to <= from {
		return 0, 0
	}
	if k.Count > 1 {
		room := k.Took + 2*k.Off
		inside := overlap(k.Start-k.Off, k.Start+k.Took+k.Off, from, to)
		return max(k.Pause-(room-inside), 0), min(k.Pause, inside)
	}
	// The overlap of two intervals, one of which is moved, rises, stays, and falls:
	// it is least at an end, and most where both begin together, or as near to that
	// as may be.
	first, last := k.Start-k.Off, k.Start+k.Off
	at := min(max(from, first), last)
	return min(overlap(first, first+k.Pause, from, to), overlap(last, last+k.Pause, from, to)), overlap(at, at+k.Pause, from, to)
}

func overlap(a, b, c, d int64) int64 { return max(min(b, d)-max(a, c), 0) }
