package export

import "strings"

// An Agent is what a user's script did beside the recording (docs/agents.md).
type Agent struct {
	Name        string   `json:"name"`
	Activations int64    `json:"activations"`
	Seconds     float64  `json:"seconds"`           // that they took in all
	Output      []string `json:"output"`            // the last lines that it printed
	Dropped     int64    `json:"dropped,omitempty"` // lines before these
	Folder      string   `json:"folder,omitempty"`  // where its files are; "" if it wrote none
	Files       []string `json:"files,omitempty"`   // that it wrote, by name
	Marks       int64    `json:"marks,omitempty"`   // that it put on the timeline
	Missed      int64    `json:"went_on,omitempty"` // threads that were to be held at an exit, and went on before it had run
	Failed      string   `json:"failed,omitempty"`  // its traceback, if it was disabled
}

// agents is the text report's section of them.
func (t *textWriter) agents() {
	for _, a := range t.report.Agents {
		t.section("Agent " + Clean(a.Name))
		t.printf("%s, %s\n", Plural(a.Activations, "activation", "activations"), Duration(int64(a.Seconds*1e9)))
		if a.Dropped > 0 {
			t.printf("%s before these are left out\n", Plural(a.Dropped, "line", "lines"))
		}
		for _, line := range a.Output {
			t.text("  " + Clean(line) + "\n")
		}
		for _, f := range a.Files {
			t.printf("written: %s/%s\n", Clean(a.Folder), Clean(f))
		}
		if a.Missed > 0 {
			t.printf("%s at exits before the agent had run: differences of these may have more than one invocation\n", Plural(a.Missed, "thread went on", "threads went on"))
		}
		if a.Failed != "" {
			t.text("failed and was disabled:\n")
			for line := range strings.Lines(a.Failed) {
				t.text("  " + Clean(strings.TrimRight(line, "\n")) + "\n")
			}
		}
	}
}
