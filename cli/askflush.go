package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// errDeclined reports a user who does not want a busy JVM to lose its compiled code.
var errDeclined = errors.New("nothing was done")

func (f *recordFlags) addYes(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.yes, "yes", "y", false, "don't ask before a busy JVM loses all of its compiled code")
}

// askFlush tells what the first redefinition is going to cost a JVM, if it is much, and
// asks whoever sits at a terminal. Without a terminal, or with --yes, it goes on. What it
// can't find out is left to the attach, which says what is wrong.
func (a *app) askFlush(in *interrupts, pid int, yes bool) error {
	flush, err := a.backend.flush(in.first, pid)
	if err != nil || !flush.Heavy() {
		return in.first.Err()
	}
	a.say("%s", flush)
	if yes || !isTerminal(a.stdin) || !isTerminal(a.stderr) {
		return nil
	}
	return a.ask(in, fmt.Sprintf("go on? \"rivulet prepare %d\" at a quiet hour has it over with", pid), a.stdin)
}

// ask asks a question on stderr. Its error is nil for yes, errDeclined, or that of an
// interrupt.
func (a *app) ask(in *interrupts, question string, from io.Reader) error {
	fmt.Fprintf(a.stderr, "rivulet: %s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // it stays at its read if there is no answer: the program ends then
		line, _ := bufio.NewReader(from).ReadString('\n')
		answered <- line
	}()
	select {
	case line := <-answered:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errDeclined
	case <-in.first.Done():
		fmt.Fprintln(a.stderr)
		return errDeclined
	}
}
