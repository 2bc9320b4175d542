package pcct

// A ranking has nodes in the order of a figure that only rises by one at a time, the
// largest first. Raising is O(1): among equal figures the order doesn't matter, so
// the node that rises changes places with the first of its equals. It is the
// paper's sorted list of nodes, and of edges.
type ranking struct {
	nodes  []*node
	first  map[int64]int // place of the first node with a figure
	figure func(*node) (value int64, place *int32)
}

func bySamples(n *node) (int64, *int32) { return n.samples, &n.hotAt }
func byEntries(n *node) (int64, *int32) { return n.entries, &n.busyAt }

func newRanking(figure func(*node) (int64, *int32)) ranking {
	return ranking{first: map[int64]int{}, figure: figure}
}

// rise puts a node to its place after its figure has risen by one.
func (r *ranking) rise(n *node) {
	now, place := r.figure(n)
	if *place < 0 { // risen from nothing, so it is the least
		*place = int32(len(r.nodes))
		r.nodes = append(r.nodes, n)
		if _, ok := r.first[now]; !ok {
			r.first[now] = int(*place)
		}
		return
	}
	lead := r.first[now-1]
	other := r.nodes[lead]
	if other != n {
		_, otherPlace := r.figure(other)
		r.nodes[lead], r.nodes[*place] = n, other
		*otherPlace, *place = *place, int32(lead)
	}
	if next := lead + 1; next < len(r.nodes) {
		if v, _ := r.figure(r.nodes[next]); v == now-1 {
			r.first[now-1] = next
		} else {
			delete(r.first, now-1)
		}
	} else {
		delete(r.first, now-1)
	}
	if _, ok := r.first[now]; !ok {
		r.first[now] = lead
	}
}

// top are the first n nodes.
func (r *ranking) top(n int) []*node { return r.nodes[:min(max(n, 0), len(r.nodes))] }
