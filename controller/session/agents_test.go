package session

import "testing"

func TestAgentPrefix(t *testing.T) {
	for class, want := range map[string]string{
		"io.opentelemetry.javaagent.OpenTelemetryAgent": "io/opentelemetry/javaagent/",
		"org.jacoco.agent.rt.internal_aeaf9ab.PreMain":  "org/jacoco/agent/rt/",
		"rivulet.prepared.Prepared":                     "rivulet/prepared/",
		"agent.Main":                                    "",
		"Main":                                          "",
		"":                                              "",
	} {
		if got := agentPrefix(class); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}
