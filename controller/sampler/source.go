package sampler

import "github.com/rivulet-profiler/rivulet/controller/sampler/perf"

// deepen has the kernel copy more of stacks from now on if more than one in 500 were deeper
// than what it copies.
func (s *Sampler) deepen() {
	const enough = 3
	most := mostStack
	if s.o.Hz > lowHz {
		most = largeStack
	}
	if s.perf == nil || s.stackBytes >= most || s.deep < enough || 500*s.deep < s.deep+s.shallow {
		return
	}
	s.stackBytes, s.deep, s.shallow = min(2*s.stackBytes, most), 0, 0
	if !s.reopen() {
		s.stackBytes = most // the old one goes on
	}
}

// hasten has the kernel wake the sampler at each sample from now on if there are virtual threads
// whose stacks go on in the heap, where they are as they were for a short time only.
func (s *Sampler) hasten() {
	const enough = 3
	if s.perf == nil || s.prompt || s.frozen < enough || s.o.Hz > lowHz {
		return
	}
	s.prompt = true
	s.reopen()
}

// reopen takes samples from now on as the sampler now wants them; if that can't be, as before.
func (s *Sampler) reopen() bool {
	deeper, err := perf.Open(s.pid, perf.Options{Period: s.period(), StackBytes: s.stackBytes, Kernel: s.o.Native, Prompt: s.prompt})
	if err != nil {
		return false
	}
	s.perf.Drain(func(*perf.Sample) {}) // few, since the last time
	s.lost += s.perf.Lost()
	s.perf.Close()
	s.perf = deeper
	if s.prompt {
		s.promptly = s.perf.Files()
	}
	return true
}
