package classfile

// A Bootstrap is a row of BootstrapMethods (§4.7.23).
type Bootstrap struct {
	Handle uint16   // MethodHandle constant
	Args   []uint16 // loadable constants
}

// BootstrapMethods returns the rows that [Dynamic.Bootstrap] points to.
func (c *Class) BootstrapMethods() ([]Bootstrap, error) {
	a := c.Attribute(AttrBootstrapMethods)
	if a == nil {
		return nil, nil
	}
	r := &reader{b: a.Info, base: a.at, section: "4.7.23", class: c.name}
	rows := make([]Bootstrap, r.count(4))
	for i := range rows {
		rows[i].Handle = r.u2()
		if r.err == nil && c.Pool.Tag(rows[i].Handle) != TagMethodHandle {
			r.failAt(r.at-2, errIndex)
		}
		rows[i].Args = make([]uint16, r.count(2))
		for j := range rows[i].Args {
			rows[i].Args[j] = r.u2()
		}
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	return rows, nil
}
