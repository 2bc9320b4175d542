package heap

// A TreeNode is a part of the dominator tree: objects of one class that hang below the
// objects of the node above, those that hang below each other included.
type TreeNode struct {
	Class    string      `json:"class"`
	What     string      `json:"what,omitempty"` // of a single object: the class, thread or text that it is
	Count    int64       `json:"count"`
	Retained int64       `json:"retained_bytes"`
	Children []*TreeNode `json:"children,omitempty"`
}

const (
	treeShare = 0.003 // of the heap: less is not shown
	treeNodes = 600
	treeDepth = 24
)

// treemap is the dominator tree summed up by class, the parts that retain most.
func (h *Heap) treemap() *TreeNode {
	root := &TreeNode{Class: "heap", Count: h.Objects, Retained: h.Bytes}
	left := treeNodes
	type todo struct {
		node  *TreeNode
		under step
		depth int
	}
	// Breadth first: what is near the top is shown even if there is too much.
	queue := []todo{{root, step{places: []uint32{0}}, 0}}
	for len(queue) > 0 && left > 0 {
		t := queue[0]
		queue = queue[1:]
		for _, g := range h.groups(t.under.places, t.under.class) {
			if float64(g.retained) < treeShare*float64(h.Bytes) || left == 0 {
				break
			}
			left--
			n := &TreeNode{Class: g.class.name, Count: int64(len(g.places)), Retained: g.retained}
			if len(g.places) == 1 {
				if n.What = h.describe(h.tree.object(g.places[0])); n.What == n.Class {
					n.What = ""
				}
			}
			t.node.Children = append(t.node.Children, n)
			if t.depth < treeDepth {
				queue = append(queue, todo{n, g, t.depth + 1})
			}
		}
	}
	return root
}
