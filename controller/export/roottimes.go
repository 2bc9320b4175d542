package export

// rootTimes writes how long root calls took, where that is known.
func (t *textWriter) rootTimes() {
	h := t.report.History
	if h == nil {
		return
	}
	if x := h.Times; x != nil && x.Count > 0 {
		t.printf("a root call took %s on average; half of them took up to %s, 90 %% up to %s, 99 %% up to %s, 99.9 %% up to %s (within 6 %%)\n",
			Duration(x.Mean), Duration(x.P50), Duration(x.P90), Duration(x.P99), Duration(x.P999))
	}
	if h.Why != "" {
		t.printf("how long root calls took is not known from some moment on: %s\n", Clean(h.Why))
	}
}
