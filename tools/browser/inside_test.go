package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// listed tells whether a list has a row that has all of some texts.
func listed(list string, texts ...string) string {
	out := "[...document.querySelectorAll(" + "`#" + list + " tbody tr`" + ")].some((r) => true"
	for _, text := range texts {
		out += " && r.textContent.includes(`" + text + "`)"
	}
	return out + ")"
}

// TestInside looks into a JVM from the list of the start page: its threads and their deadlock, who waits for whom, which classes
// are loaded, what fills its heap. Nothing is attached to for good. It also follows the address, and Back.
func TestInside(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 900)
	c := program(t, "Inside")
	p.click(pidButton("inside", c))

	// Threads: the deadlock, and the thread that waits, with its stack.
	p.until(listed("threads", "waiter", "blocked", "Inside$Gate of holder", "Inside$Gate.pass"))
	p.until(`document.querySelectorAll(".deadlock .stack").length === 2 && /left first waits for java.lang.Object.* of right first/.test(document.querySelector(".deadlock").textContent)`)
	row := `[...document.querySelectorAll("#threads tbody button")].find((b) => b.textContent.includes("waiter"))`
	p.until(row)
	value[bool](p, row+".click() ?? true")
	p.until(`document.querySelector("#threads .opened .stack li").textContent.includes("Inside$Gate.pass")`)
	p.shot("inside-threads")
	p.click("#look-states")
	p.until(`/[1-9]\d* moment/.test(document.querySelector(".going").textContent)`)
	p.click("#look-end")
	p.until(listed("states", "waiter", "100 %") + ` && document.querySelector("#states [aria-label='100 % blocked']")`)
	p.shot("inside-states")
	p.click("#look-cpu")
	p.until(`[...document.querySelectorAll("#threads th")].some((h) => h.textContent.startsWith("CPU now"))`)
	p.until(listed("threads", "waiter", "%"))

	// Locks: who waits for whom, with both stacks, and the deadlock.
	p.click("#inside-locks")
	p.until(`document.querySelector(".deadlock")`)
	p.click("#look-contention")
	p.until(`/[1-9]\d* look/.test(document.querySelector(".going").textContent)`)
	p.click("#look-end")
	p.until(listed("locks", "Inside$Gate", "Inside$Gate.pass"))
	row = `[...document.querySelectorAll("#locks tbody button")].find((b) => b.textContent.includes("Inside$Gate.pass"))`
	value[bool](p, row+".click() ?? true")
	p.until(`document.querySelectorAll("#locks .opened .stack").length === 2 && document.querySelectorAll("#locks .opened .stack")[1].textContent.includes("Inside$Gate.hold")`)
	p.shot("inside-locks")

	// Class loads: one that the program makes while it is looked at.
	p.click("#inside-loads")
	p.click("#look-loads")
	p.until(`document.querySelector(".going").textContent.includes("recording")`)
	c.tell(t, "now")
	c.line(t, "ANSWER")
	p.click("#look-end")
	p.until(listed("loads", "Inside$Late", "Inside.main"))
	p.shot("inside-loads")

	// Heap: the histogram, what a dump costs, the leak as a suspect, the dominator tree, and what grows.
	p.click("#inside-heap")
	p.until(`/Up to .*B are written into/.test(document.querySelector("#heap-plan").textContent)`)
	p.click("#look-histogram")
	p.until(listed("histogram", "Inside$Leaked", "200", "AppClassLoader #") + ` && !document.querySelector("#histogram").textContent.includes("NaN")`)
	p.until(listed("histogram-loaders", "AppClassLoader #", "B"))
	p.click("#look-heap")
	p.until(`document.querySelector("#suspects li")?.textContent.includes("class Inside, by static cache")`)
	p.until(listed("classes", "Inside$Leaked", "200"))
	p.until(`[...document.querySelectorAll(".going ~ .hint, .hint")].some((e) => e.textContent.includes("stood still for"))`)
	p.shot("inside-heap")
	boxes := `document.querySelectorAll("#treemap button").length`
	p.until(boxes + " > 3")
	value[bool](p, `[...document.querySelectorAll("#treemap button:enabled")].find((b) => b.title.includes("ArrayList") || b.title.includes("Inside")).click() ?? true`)
	p.until(`document.querySelectorAll("nav[aria-label='Way through the dominator tree'] span").length > 1`)
	value[bool](p, `document.querySelector("nav[aria-label='Way through the dominator tree'] button").click() ?? true`)

	// The address has it; what was seen is there again; Back goes to the JVMs.
	p.until(`location.hash.includes("look=heap")`)
	value[bool](p, `location.reload() ?? true`)
	p.until(listed("classes", "Inside$Leaked", "200"))
	p.click("#leave")
	p.until(`document.querySelector("#targets") && !location.hash.includes("inside")`)
	value[bool](p, `history.back() ?? true`)
	p.until(listed("classes", "Inside$Leaked", "200"))
}

func pidButton(of string, c *child) string {
	return fmt.Sprintf(`#targets button[data-%s="%d"]`, of, c.cmd.Process.Pid)
}

// TestHeapOfRecording joins a heap with the recording that is on: each class has the contexts that allocated it.
func TestHeapOfRecording(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1800, 900)
	c := program(t, "Inside")
	p.root(c, "inside keep")
	value[bool](p, `document.querySelector("details.more").open = true`)
	p.tick("#allocations")
	p.click("#start")
	p.wait(".phase.recording")
	for range 3 {
		c.tell(t, "keep")
		c.line(t, "ANSWER")
	}
	p.until(figure("Calls", "^3$"))
	p.click("#inside")
	p.click("#inside-heap")
	p.until(`/Up to .*B are written into/.test(document.querySelector("#heap-plan").textContent)`)
	value[bool](p, `((s) => { s.value = "0"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("#heap-source"))`)
	p.click("#look-heap")
	p.until(`document.querySelector("#classes") && [...document.querySelectorAll(".choices button")].some((b) => b.textContent === "Allocated by")`)
	p.button(".choices", "Allocated by")
	p.until(listed("allocated", "3", "Inside$Kept", "Inside.keep"))
	p.shot("heap-joined")
	p.click("#leave")
	p.until(figure("Calls", "^3$"))
}

// TestLoadsOfRecording lists the classes that a recording's root calls had loaded, with their context, while it goes on and after it.
func TestLoadsOfRecording(t *testing.T) {
	t.Parallel()
	p := recordedWith(t, "#classes")
	p.until(figure("Calls", "^5$") + " && " + figure("Loads", "^[1-9]"))
	p.click("#tab-loads")
	p.until(listed("loads", "Counted.root"))
	p.click("#stop")
	p.wait("#again")
	p.until(`!/\?/.test(document.querySelector("#loads tbody tr td:nth-child(2)").textContent)`)
	p.until(listed("causes", "Counted"))
	p.shot("loads")
}

// TestHeapPage: the HTML report of a heap, of which another JVM's is made without a server, has the suspects, the dominator tree and the lists.
func TestHeapPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	c := program(t, "Inside")
	page := filepath.Join(t.TempDir(), "heap.html")
	if out, err := exec.Command(file, "heap", fmt.Sprint(c.cmd.Process.Pid), "-o", page).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := open(t, "file://"+page, 1280, 900)
	p.until(`document.querySelector("#suspects li")?.textContent.includes("class Inside, by static cache")`)
	p.until(listed("classes", "Inside$Leaked", "200"))
	p.until(`document.querySelectorAll("#treemap button").length > 3`)
	p.button(".choices", "Objects")
	p.until(listed("objects", "class Inside"))
	value[bool](p, `document.querySelector("#objects tbody button").click() ?? true`)
	p.until(`document.querySelector("#objects .opened pre")`)
	if source, err := os.ReadFile(axeFile); err == nil {
		p.axe(string(source), "the heap's report")
	}
}

// TestInsideAxe has axe-core look at each view of a JVM's inside.
func TestInsideAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(axeFile)
	if err != nil {
		t.Skip("axe-core not installed: go tool task viewers")
	}
	p := open(t, served(t), 1280, 900)
	c := program(t, "Inside")
	p.click(pidButton("inside", c))
	p.until(listed("threads", "waiter"))
	p.axe(string(source), "threads inside")
	p.click("#inside-locks")
	p.until(`document.querySelector(".deadlock")`)
	p.axe(string(source), "locks inside")
	p.click("#inside-loads")
	p.wait("#look-loads")
	p.axe(string(source), "loads inside")
	p.click("#inside-heap")
	p.click("#look-heap")
	p.until(listed("classes", "Inside$Leaked"))
	p.axe(string(source), "heap inside")
}
