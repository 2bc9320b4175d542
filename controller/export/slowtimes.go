package export

// slowShown is how many of the slowest root calls the text report lists where it has no trees of them.
const slowShown = 5

// slowTimes lists when the slowest root calls were, and how long they took.
func (t *textWriter) slowTimes(s *Slowest, which string) {
	t.printf("of %s; --slowest N keeps the tree of each\n\n", which)
	list := table{head: []string{"took", "on a core", "began at", "GC pause", "paused by Rivulet", "thread and root"}}
	for _, i := range s.Invocations[:min(len(s.Invocations), slowShown)] {
		gc, paused, ran := "not known", "", "not known"
		if i.Ran != nil {
			ran = Duration(*i.Ran)
		}
		if p := i.Paused; p != nil {
			if gc = ""; p.Most > 0 {
				gc = p.String()
			}
		}
		if i.Suspended > 0 {
			paused = Duration(i.Suspended)
		}
		where := threadName(i.Thread) + ", " + t.report.Method(i.Tree().Method).Name
		if i.Thrown {
			where += ", ended by an exception"
		}
		list.add(Clean(where), "", Duration(i.Took), ran, Duration(i.Start), gc, paused)
	}
	list.write(&t.sink, t.o.Color, t.o.Width)
}
