package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A command is a row of the table from which dispatch and help are made.
type command struct {
	name  string
	args  string // "[N]"
	least int    // arguments
	most  int    // -1: any number
	help  string
	run   func(ctx context.Context, c *Console, out io.Writer, args []string) error
}

// commands are in the order in which help shows them.
var commands []command

func init() { // refers to itself by help
	commands = []command{
		{"find", "WORDS...", 1, -1, "search methods: parts of their names, or the humps of one (OSp)", find},
		{"suggest", "[root]", 0, 1, "methods worth recording, by five seconds of samples; root makes the best one the root", suggested},
		{"root", "[METHOD...]", 0, -1, "choose roots, as CLASS.METHOD, with a descriptor, or as patterns; list them", roots},
		{"unroot", "METHOD|all", 1, 1, "take a root away", unroot},
		{"include", "PATTERN", 1, 1, "instrument methods that match", rule("--include ")},
		{"exclude", "PATTERN", 1, 1, "leave methods that match without probes; the last pattern that matches decides", rule("--exclude ")},
		{"jdk", "", 0, 0, "instrument the JDK too, except the classes that Rivulet needs", rule("--jdk")},
		{"filters", "[clear]", 0, 1, "list the patterns, or forget them", filters},
		{"scheme", "[auto|A|B|C|D]", 0, 1, "choose the scheme; a recording that is on ends, is kept, and begins anew", switched("scheme", (*Console).SetScheme)},
		{"clock", "[tick|precise]", 0, 1, "low overhead or exact timing, at once", switched("clock", (*Console).SetClock)},
		{"mode", "[PATTERN=MODE|clear]", 0, 1, "record the methods that match off, counted, tick or precise, at once; the last rule that matches holds", switched("mode", (*Console).AddMode)},
		{"start", "[METHOD...]", 0, -1, "record; with methods, these are the roots; a recording that is on is kept, and goes on with these", start},
		{"wait", "TIME|end|calls N [TIME]", 1, 3, "wait: for a time, for the recording's end, for N calls (TIME at the most)", wait},
		{"pause", "", 0, 0, "record nothing until resume", do("pause")},
		{"resume", "", 0, 0, "go on recording", do("resume")},
		{"reset", "", 0, 0, "forget what was recorded, and go on", do("reset")},
		{"stop", "", 0, 0, "end the recording, restore the classes; it can be looked at afterwards", stop},
		{"status", "", 0, 0, "how far the recording is, in one line for each thing", status},
		{"top", "[N]", 0, 1, "the N call paths with the most time, as a tree (20)", top},
		{"tree", "[LEVELS]", 0, 1, "the tree, small branches folded (12 levels)", tree},
		{"unfold", "[on|off]", 0, 1, "show in trees all levels of frameworks, or fold those that lead to the application (off)", unfold},
		{"methods", "[N] [by KEY]", 0, 3, "the N hottest methods (20), by self, total, calls, thrown, error or name", methods},
		{"around", "WORDS", 1, 1, "a method's callers and callees", around},
		{"threads", "", 0, 0, "the threads", threads},
		{"report", "", 0, 0, "the whole text report", report},
		{"keep", "[NAME]", 0, 1, "keep the recording as of now, to compare with", keep},
		{"snapshots", "", 0, 0, "list what is kept, with numbers", snapshots},
		{"compare", "BEFORE [AFTER]", 1, 2, "what differs: numbers of snapshots, files, or now (the default of AFTER)", compare},
		{"save", "FILE [FORMAT]", 1, 2, "write the report; FORMAT, or the file's name, is " + strings.Join(export.FormatNames(), ", "), save},
		{"log", "", 0, 0, "what has happened so far", journal},
		{"echo", "TEXT...", 0, -1, "print a line", echo},
		{"help", "[COMMAND]", 0, 1, "this list", help},
		{"quit", "", 0, 0, "end the recording, restore the classes, detach", quit},
	}
	at := slices.IndexFunc(commands, func(c command) bool { return c.name == "start" })
	commands = slices.Insert(commands, at, optionCommands()...)
}

// optionCommands are the commands of those options that have none of another kind: wait
// waits, and filters are made by include and exclude.
func optionCommands() (out []command) {
	for _, o := range spec.Options {
		if o.Name != "filter" && lookUp(o.Name) == nil {
			out = append(out, command{o.Name, "[" + o.Arg + "]", 0, 1, o.Short, set(o)})
		}
	}
	return out
}

// set is the command that shows or sets an option of the next recording.
func set(o *spec.Option) func(context.Context, *Console, io.Writer, []string) error {
	return func(_ context.Context, c *Console, out io.Writer, args []string) error {
		return c.option(o, out, args)
	}
}

func lookUp(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

// Names are the names of all commands, in the order of the help.
func Names() []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.name)
	}
	return out
}

// Help describes each command in a line.
func Help() string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-34s%s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	return b.String()
}

// Exec carries out one command line, and writes its output. Empty lines and comments (#) do
// nothing. Errors wrap [ErrUsage] if the command makes no sense, are [ErrQuit] for quit, or
// say why the command failed.
func (c *Console) Exec(ctx context.Context, line string, out io.Writer) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	cmd := lookUp(words[0])
	if cmd == nil {
		return wrong("there is no command %q; help lists them", words[0])
	}
	args := words[1:]
	if len(args) < cmd.least || cmd.most >= 0 && len(args) > cmd.most {
		return wrong("it is used as: %s", strings.TrimSpace(cmd.name+" "+cmd.args))
	}
	return cmd.run(ctx, c, out, args)
}

// split cuts a line into words; single and double quotes keep blanks, and a
// word that begins with # ends the line.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inside := false // of a word
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if inside {
				words, inside = append(words, word.String()), false
				word.Reset()
			}
		case r == '#' && !inside:
			return words, nil
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, wrong("the quote %c is not closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// A LineError says which line of a script failed, and why.
type LineError struct {
	Line int // from 1
	Text string
	Err  error
}

// Error implements error.
func (e *LineError) Error() string {
	return fmt.Sprintf("line %d, %q: %v", e.Line, export.Clean(strings.TrimSpace(e.Text)), e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Script carries out the lines of a script until its end, quit, or the first line that fails.
// The error is a [*LineError].
func (c *Console) Script(ctx context.Context, script io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(script)
	lines.Buffer(nil, 1<<20)
	next := make(chan string)
	over := make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	// A terminal or a pipe may keep a reader waiting for ever: whoever
	// interrupts the script doesn't wait for it.
	go func() {
		defer close(next)
		for lines.Scan() {
			select {
			case next <- lines.Text():
			case <-stop:
				return
			}
		}
		over <- lines.Err()
	}()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return &LineError{n, "", ctx.Err()}
		case line, ok := <-next:
			if !ok {
				if err := <-over; err != nil {
					return &LineError{n, "", err}
				}
				return nil
			}
			err := c.Exec(ctx, line, out)
			switch {
			case errors.Is(err, ErrQuit):
				return nil
			case err != nil:
				return &LineError{n, line, err}
			}
		}
	}
}
