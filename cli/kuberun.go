package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/kube"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// A site is a container in which JVMs are looked at.
type site struct {
	name  string // of the pod, and of the container where the pod has several
	ready *kube.Ready
}

// A kubeRun is one command in many containers.
type kubeRun struct {
	app     *app
	cluster kube.Cluster
	flags   *kubeRunFlags
	request kube.Request
	meter   *meter
	states  states

	room *kube.Room // for results of all containers

	mu        sync.Mutex
	out       fleet.Outcome
	undecided int // containers of which it isn't known yet whether they record
	recording int // JVMs

	left  map[string]*kube.Error    // pods that were not looked at, and why
	whys  map[string]*kube.Error    // what stands in the way, by container
	found map[string][]kube.Finding // what does not
}

// mostResults bounds what the results of all containers take, packed, in bytes.
const mostResults = 2 << 30

// preparesAtOnce is how many pods are made ready at a time: each gets the binary through the API server.
const preparesAtOnce = 4

// runKube does the same in each pod of a target. Results have the pod's name for their node's.
func (a *app) runKube(in *interrupts, f *kubeRunFlags, request kube.Request) (*fleet.Outcome, error) {
	r, err := a.runInPods(in, f, request)
	if err != nil {
		return nil, err
	}
	return &r.out, nil
}

// runInPods is runKube with all that came to be known.
func (a *app) runInPods(in *interrupts, f *kubeRunFlags, request kube.Request) (*kubeRun, error) {
	way, err := f.way()
	if err != nil {
		return nil, err
	}
	c, err := a.dial(&f.kubeFlags)
	if err != nil {
		return nil, kubeUsage(err)
	}
	all, err := podsMeant(in.first, c, &f.kubeFlags)
	if err != nil {
		return nil, interrupted(in, err)
	}
	chosen, left := kube.Chosen(all, f.pods)
	var first error
	for _, p := range all {
		if why := left[p.Name]; why != nil {
			a.say("pod %s is left out: %s", p.Name, oneLine(why.Error()))
			first = cmp.Or(first, error(why))
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no pod of %s can be looked at; the first: %w", f.which.Text(), first)
	}
	request.PIDs, request.Match, request.All = f.targets.pids, f.targets.match, f.targets.all
	request.LittleMemory = f.force || a.littleMemory
	r := &kubeRun{app: a, cluster: c, flags: f, request: request, states: states{of: map[string]string{}}, room: kube.NewRoom(mostResults), left: left, whys: map[string]*kube.Error{}, found: map[string][]kube.Finding{}}
	r.meter = startMeter(a.stderr, func() session.Progress { return session.Progress{Phase: r.states.text()} })
	defer r.meter.stop()
	sites := r.prepare(in.first, way, chosen)
	if in.first.Err() != nil {
		for _, s := range sites {
			s.ready.Release(in.first)
		}
		return nil, errors.New("interrupted before anything was begun; what was copied is removed")
	}
	r.carry(in, sites)
	r.meter.stop()
	slices.SortFunc(r.out.Results, func(a, b *fleet.Result) int { return a.Target.Compare(b.Target) })
	slices.SortFunc(r.out.Lost, func(a, b fleet.Lost) int { return a.Target.Compare(b.Target) })
	return r, nil
}

// lose notes that there is no result of a container.
func (r *kubeRun) lose(name string, j fleet.JVM, why error) {
	var known *kube.Error
	if !errors.As(why, &known) {
		known = &kube.Error{Check: kube.CheckConnection, Cause: why.Error()}
	}
	r.mu.Lock()
	r.whys[name] = known
	r.out.Lost = append(r.out.Lost, fleet.Lost{Target: fleet.Target{Node: name, PID: j.PID, Start: j.Start}, JVM: hosted(j), Why: why.Error()})
	r.mu.Unlock()
	r.states.set(name, "failed")
}

// hosted is a JVM without what it knows of its pod itself: the pod's name is its node's.
func hosted(j fleet.JVM) fleet.JVM {
	j.PodUID, j.Hostname = "", ""
	return j
}

// prepare makes the containers ready that have JVMs, some pods at a time.
func (r *kubeRun) prepare(ctx context.Context, way kube.Way, chosen []kube.Pod) []site {
	var wg sync.WaitGroup
	room := make(chan struct{}, preparesAtOnce)
	found := make([][]site, len(chosen))
	for i := range chosen {
		r.states.set(chosen[i].Name, "waiting")
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if ctx.Err() == nil {
				found[i] = r.preparePod(ctx, way, &chosen[i])
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...)
}

// preparePod makes a pod's containers ready. One that can't be looked into does not matter where another has a JVM: it is a sidecar.
func (r *kubeRun) preparePod(ctx context.Context, way kube.Way, p *kube.Pod) []site {
	candidates, err := kube.Candidates(p, r.flags.container)
	if err != nil {
		r.lose(p.Name, fleet.JVM{}, err)
		return nil
	}
	var sites []site
	var problems []error
	for i := range candidates {
		name := p.Name
		if len(candidates) > 1 {
			name += "/" + candidates[i].Name
		}
		ready, err := way.Prepare(ctx, r.cluster, p, &candidates[i], func(state string) { r.states.set(p.Name, state) })
		switch {
		case err != nil:
			problems = append(problems, err)
		case ready != nil:
			sites = append(sites, site{name, ready})
		}
	}
	if len(sites) == 0 {
		problems = append(problems, &kube.Error{Check: kube.CheckJVM, Cause: "no container of pod " + p.Name + " has a JVM", Fix: "rivulet kube ps lists the JVMs"})
		r.lose(p.Name, fleet.JVM{}, problems[0])
		return nil
	}
	if len(sites) == 1 {
		sites[0].name = p.Name
	}
	r.mu.Lock()
	for _, s := range sites {
		r.found[s.name] = s.ready.Found
	}
	r.mu.Unlock()
	r.states.set(p.Name, "ready")
	return sites
}

// carry talks with all containers at the same time.
func (r *kubeRun) carry(in *interrupts, sites []site) {
	var wg sync.WaitGroup
	r.undecided = len(sites)
	for _, s := range sites {
		wg.Go(func() {
			defer s.ready.Release(in.first)
			r.talk(in, s)
		})
	}
	wg.Wait()
}

// decided says that so many more JVMs record, and tells when that is all that will.
func (r *kubeRun) decided(recording int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recording += recording
	if r.undecided--; r.undecided == 0 && r.recording > 0 && r.request.Command.Do == fleet.DoProfile {
		r.meter.say("recording in " + export.Plural(int64(r.recording), "JVM", "JVMs"))
	}
}

// talk has one container's worker do what was asked for. A JVM whose result does not come counts with the last that was heard of it.
func (r *kubeRun) talk(in *interrupts, s site) {
	var jvms []fleet.JVM
	parts := map[int]*fleet.Result{}
	done, begun := map[int]bool{}, map[int]bool{}
	known := sync.OnceFunc(func() { r.decided(len(begun)) })
	defer known()
	request := r.request
	request.Unlink = s.ready.Unlink
	r.states.set(s.name, "starting")
	take := func(res *fleet.Result) {
		res.Target.Node = s.name
		res.JVM = hosted(res.JVM)
	}
	err := kube.Talk(in.first, in.second, r.cluster, s.ready.At, &request, s.ready.Command, kube.Heard{
		JVMs: func(list []fleet.JVM) {
			jvms = list
			r.states.set(s.name, "attaching")
		},
		State: func(p fleet.Progress) {
			r.states.set(s.name, p.State)
			if begun[p.Target.PID] = true; len(begun)+len(done) >= len(jvms) {
				known()
			}
		},
		Part: func(res *fleet.Result) {
			take(res)
			parts[res.Target.PID] = res
		},
		Result: func(res *fleet.Result) {
			take(res)
			r.mu.Lock()
			r.out.Results = append(r.out.Results, res)
			r.mu.Unlock()
			done[res.Target.PID] = true
			if res.Error != "" {
				r.meter.say(fmt.Sprintf("%s/%d: %s", s.name, res.Target.PID, oneLine(res.Error)))
			}
			r.states.set(s.name, "done")
		},
		Room: r.room,
	})
	if len(jvms) == 0 {
		r.lose(s.name, fleet.JVM{}, cmp.Or(err, errors.New("it ended without a word")))
		return
	}
	for _, j := range jvms {
		switch part := parts[j.PID]; {
		case done[j.PID]:
		case part != nil:
			part.Error = fmt.Sprintf("its end is missing: %v", cmp.Or(err, errors.New("it ended without a result")))
			r.mu.Lock()
			r.out.Results = append(r.out.Results, part)
			r.mu.Unlock()
		default:
			r.lose(s.name, j, cmp.Or(err, errors.New("it ended without a result")))
		}
	}
}

// reportKube records or samples in all pods, and puts the reports together.
func (a *app) reportKube(in *interrupts, f *kubeRunFlags, request kube.Request) (*export.Report, error) {
	out, err := a.runKube(in, f, request)
	if err != nil {
		return nil, err
	}
	return a.mergeFleet(out)
}
