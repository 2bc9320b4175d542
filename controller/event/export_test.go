package event

// Waiting is how many executions wait for their hand-over.
func (b *Builder) Waiting() int { return len(b.Timeline.hops.early) }
