package cli

import (
	"strings"
	"testing"
)

// TestTable has a signature that is far wider than the others, as Kafka's are: it
// must not pad them, and nothing follows the last cell of a line.
func TestTable(t *testing.T) {
	long := "kafka.server.KafkaApis.handle(" + strings.Repeat("Lkafka/server/Request;", 25) + ")V"
	rows := func() [][]string {
		return [][]string{{"METHOD", "LOADER", "FLAGS", ""}, {"a.B.of(I)J", "app", "public static", ""}, {long, "app", "", "no probes: native"}}
	}
	want := "METHOD      LOADER  FLAGS\n" +
		"a.B.of(I)J  app     public static\n" +
		long + "  app                    no probes: native\n"
	if got := table(rows(), 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, line := range strings.Split(strings.TrimSuffix(table(rows(), 40), "\n"), "\n") {
		if n := len([]rune(line)); n > 40 || strings.HasSuffix(line, "…") != (i == 2) {
			t.Errorf("line %d, %d wide: %q", i, n, line)
		}
	}
}
