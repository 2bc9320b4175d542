package locks

// Known counts the threads of which something is kept.
func Known(d *Samples) int { return max(len(d.recent), len(d.last)) }
