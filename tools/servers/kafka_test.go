//go:build servers

package servers

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

const (
	kafkaRoot = "kafka.server.KafkaApis.handle"
	produces  = "kafka.server.KafkaApis.handleProduceRequest("
	kafkaRate = 100
	kafkaSent = 1000 // records while counting
)

// TestKafka records all requests to a Kafka broker, a single node without ZooKeeper. The
// client is silent while the recording is forgotten and while it ends, so that the calls
// recorded, those that the broker's own metric has, and those that the client made are
// the same number.
func TestKafka(t *testing.T) {
	for _, v := range []int{17, 21} {
		t.Run(fmt.Sprintf("jdk%d", v), func(t *testing.T) {
			j := jvmtest.Need(t, v)
			path := jars(t, "kafka")
			text, err := os.ReadFile(filepath.Join("testdata", "kafka", "app", "Client.java"))
			if err != nil {
				t.Fatal(err)
			}
			client := jvmtest.Compile(t, jvmtest.Need(t, 17), 17, map[string]string{"app/Client.java": string(text)}, "-cp", classpath(path))
			for _, scheme := range kafkaSchemes() {
				t.Run(scheme, func(t *testing.T) { measureKafka(t, j, client, path, scheme) })
			}
		})
	}
}

// kafkaSchemes are the schemes that were asked for; D is what auto chooses here.
func kafkaSchemes() []string {
	return strings.Split(strings.Replace(*schemes, "D", "auto", 1), ",")
}

// measureKafka starts a broker and its client, loads it, records it, and prints a row.
func measureKafka(t *testing.T, j jvmtest.JDK, client string, path []string, scheme string) {
	port, controller, jmx := freePort(t), freePort(t), freePort(t)
	broker := startBroker(t, j, path, port, controller, jmx)
	c := jvmtest.StartCmd(t, exec.Command(j.Java(), "-Xmx128m", "-cp", classpath(append([]string{client}, path...)), "app.Client", "127.0.0.1:"+port, jmx))
	c.WaitLine("READY")
	load := "load " + strconv.Itoa(kafkaRate)
	c.Send(load)
	time.Sleep(*warm)
	waited := func() string { // since the last time
		c.Send("wait")
		line := c.WaitLine("WAITED ")
		c.Send(load)
		return strings.TrimPrefix(line, "WAITED ")
	}
	waited()
	time.Sleep(look)
	before := waited()

	file := filepath.Join(t.TempDir(), "report.json")
	began := time.Now()
	r := jvmtest.StartCmd(t, attachCommand(t, broker.PID(), "--scheme", scheme))
	r.Send("start " + kafkaRoot)
	r.Send("echo ARMED")
	r.WaitLine("ARMED")
	armed := time.Since(began)
	arming := waited()
	time.Sleep(look)
	recording := waited()
	sent := ask(t, c, "quiet", "QUIET ")
	r.Send("reset")
	r.Send("echo RESET")
	r.WaitLine("RESET")
	own := ask(t, c, "count", "COUNT ")
	now := ask(t, c, "send "+strconv.Itoa(kafkaSent), "SENT ") - sent
	ask(t, c, "quiet", "QUIET ")
	own = ask(t, c, "count", "COUNT ") - own
	r.Send("stop")
	r.Send("save " + file + " json")
	r.Send("echo SAVED")
	r.WaitLine("SAVED")
	r.Send("quit")
	c.Send(load)
	leaving := waited()
	time.Sleep(look)
	after := waited()
	if code := r.Wait(); code != 0 {
		t.Errorf("rivulet ended with code %d: %s", code, strings.Join(r.Stderr(), "\n"))
	}

	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rep := &report{}
	if err := json.Unmarshal(b, rep); err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for _, f := range rep.Flat {
		if strings.HasPrefix(f.Method, produces) {
			got += f.Calls
		}
	}
	wait := "-"
	if w := rep.Redefinition.LongestWait; w != nil {
		wait = fmt.Sprintf("%.0f", *w)
	}
	print(t, fmt.Sprintf("%s: scheme %s, armed after %.1f s; %d classes, %d methods called; longest_wait_ms %s, incomplete %d, late %d, exact %v\n"+
		"  produce requests: recorded %d, by the broker's metric %d, sent %d; root calls %d\n"+
		"  consumer's longest wait in ms, and partitions lost so far: before %s, arming %s, recording %s, leaving %s, after %s\n\n",
		t.Name(), rep.Scheme, armed.Seconds(), rep.Redefinition.Classes, rep.Methods.Called, wait, rep.Incomplete, len(rep.Late), rep.Exact != nil && *rep.Exact,
		got, own, now, rep.Roots, before, arming, recording, leaving, after))
	for _, g := range rep.Gaps {
		print(t, fmt.Sprintf("  gap: %s (%d): %s\n", g.Reason, g.Count, strings.Join(g.Where[:min(3, len(g.Where))], ", ")))
	}
	if got != own || got != now {
		t.Errorf("%d produce requests recorded, %d by the broker's metric, %d sent", got, own, now)
	}
	if !strings.HasSuffix(after, " 0") {
		t.Errorf("the consumer lost its partitions: %s", after)
	}
	restored(t, broker)
	c.Send("end")
	c.Wait()
}

// ask sends the client a command and returns the number that it answers with.
func ask(t *testing.T, c *jvmtest.Proc, command, answer string) int64 {
	t.Helper()
	c.Send(command)
	n, err := strconv.ParseInt(strings.TrimPrefix(c.WaitLine(answer), answer), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func attachCommand(t *testing.T, pid int, args ...string) *exec.Cmd {
	t.Helper()
	file, err := product()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(file, append([]string{"attach", strconv.Itoa(pid), "--script", "-"}, args...)...)
}

// startBroker formats a folder and starts a broker on it that is its own controller.
func startBroker(t *testing.T, j jvmtest.JDK, path []string, port, controller, jmx string) *jvmtest.Proc {
	t.Helper()
	dir := t.TempDir()
	properties := filepath.Join(dir, "server.properties")
	text := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%[2]s
listeners=PLAINTEXT://127.0.0.1:%[1]s,CONTROLLER://127.0.0.1:%[2]s
advertised.listeners=PLAINTEXT://127.0.0.1:%[1]s
controller.listener.names=CONTROLLER
log.dirs=%[3]s
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`, port, controller, filepath.Join(dir, "log"))
	if err := os.WriteFile(properties, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cp := classpath(path)
	out, err := exec.Command(j.Java(), "-cp", cp, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", properties).CombinedOutput()
	if err != nil {
		t.Fatalf("format: %v\n%s", err, out)
	}
	proc := jvmtest.StartCmd(t, exec.Command(j.Java(), "-Xmx512m", "-cp", cp,
		"-Dcom.sun.management.jmxremote.port="+jmx, "-Dcom.sun.management.jmxremote.rmi.port="+jmx, "-Djava.rmi.server.hostname=127.0.0.1",
		"-Dcom.sun.management.jmxremote.host=127.0.0.1", "-Dcom.sun.management.jmxremote.authenticate=false", "-Dcom.sun.management.jmxremote.ssl=false",
		"kafka.Kafka", properties))
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return proc
		}
		if !proc.Running() || time.Since(begin) > time.Minute {
			t.Fatal("the broker does not listen")
		}
	}
}

// freePort is a TCP port of the loopback interface that nobody has at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
