package attach

import (
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A jvmOptions is the list of options that a JVM started with, in the order in
// which HotSpot applies them: of two that contradict, the later one holds.
type jvmOptions []string

// flag reports the last setting of a boolean -XX flag.
func (o jvmOptions) flag(name string) (on, set bool) {
	for _, s := range o {
		switch s {
		case "-XX:+" + name:
			on, set = true, true
		case "-XX:-" + name:
			on, set = false, true
		}
	}
	return on, set
}

// reducesSignals reports -Xrs: the JVM leaves SIGQUIT alone, so that the
// application may have a handler of its own for it.
func (o jvmOptions) reducesSignals() bool {
	for _, s := range o {
		if s == "-Xrs" {
			return true
		}
	}
	on, _ := o.flag("ReduceSignalUsage")
	return on
}

// perfOptions takes the options from the JVM's own counters. They include
// those from the environment and from argument files.
func perfOptions(perf map[string]any) (jvmOptions, bool) {
	args, ok := perf["java.rt.vmArgs"].(string)
	if !ok {
		return nil, false
	}
	flags, _ := perf["java.rt.vmFlags"].(string) // from -XX:Flags=file
	return append(flagsFile(flags), strings.Fields(args)...), true
}

// flagsFile reads the form of -XX:Flags files, "+A -B C=1".
func flagsFile(text string) jvmOptions {
	var o jvmOptions
	for _, f := range strings.Fields(text) {
		o = append(o, "-XX:"+f)
	}
	return o
}

// A command is how a JVM was started by the JDK's launcher.
type command struct {
	options jvmOptions
	main    string // main class, module/class or jar; "" if there is none
	args    []string
}

// readCommand puts the command together from the command line, the
// environment and the files that they name, for a JVM without hsperfdata.
func readCommand(pid, javaMajor int) command {
	argv := readStrings(pid, "cmdline")
	if len(argv) == 0 {
		return command{}
	}
	env := map[string]string{}
	for _, kv := range readStrings(pid, "environ") {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	file := func(name string) string { return readTargetText(pid, name) }
	launcher := argv[1:]
	if javaMajor != 8 {
		launcher = append(splitWords(env["JDK_JAVA_OPTIONS"], false), launcher...)
	}
	c := splitCommand(expandArgFiles(launcher, file))
	var flags jvmOptions
	for _, o := range c.options {
		if name, ok := strings.CutPrefix(o, "-XX:Flags="); ok {
			flags = append(flags, flagsFile(file(name))...)
		}
		if name, ok := strings.CutPrefix(o, "-XX:VMOptionsFile="); ok {
			c.options = append(c.options, splitWords(file(name), false)...)
		}
	}
	all := append(flags, splitWords(env["JAVA_TOOL_OPTIONS"], false)...)
	all = append(all, c.options...)
	c.options = append(all, splitWords(env["_JAVA_OPTIONS"], false)...)
	return c
}

// readTargetText reads a small text file as the target sees it, or nothing.
func readTargetText(pid int, name string) string {
	if !path.IsAbs(name) {
		cwd, err := filepath.EvalSymlinks(procFile(pid, "cwd"))
		if err != nil {
			return ""
		}
		name = path.Join(cwd, name)
	}
	f, err := openInRoot(pid, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b)
}

// withValue are the launcher's options whose value is the next argument.
var withValue = map[string]bool{
	"-cp": true, "-classpath": true, "--class-path": true,
	"-p": true, "--module-path": true, "--upgrade-module-path": true,
	"--add-modules": true, "--limit-modules": true, "--add-reads": true,
	"--add-exports": true, "--add-opens": true, "--patch-module": true,
	"--enable-native-access": true, "--source": true, "-d": true, "--describe-module": true,
}

// splitCommand splits the launcher's arguments (java [options] class [args]).
func splitCommand(args []string) command {
	var c command
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-jar" || a == "-m" || a == "--module":
			if i+1 < len(args) {
				c.main, c.args = args[i+1], args[i+2:]
			}
			return c
		case strings.HasPrefix(a, "--module="):
			c.main, c.args = strings.TrimPrefix(a, "--module="), args[i+1:]
			return c
		case withValue[a]:
			c.options = append(c.options, args[i:min(i+2, len(args))]...)
			i++
		case strings.HasPrefix(a, "-J"): // javac -J-Xmx1g
			c.options = append(c.options, a[2:])
		case strings.HasPrefix(a, "-"):
			c.options = append(c.options, a)
		default:
			c.main, c.args = a, args[i+1:]
			return c
		}
	}
	return c
}

// expandArgFiles replaces @file by the file's words, up to the main class.
func expandArgFiles(args []string, file func(string) string) []string {
	var out []string
	for i, a := range args {
		name, ok := strings.CutPrefix(a, "@")
		switch {
		case ok && !strings.HasPrefix(name, "@") && len(name) > 0:
			out = append(out, splitWords(file(name), true)...)
			continue
		case a == "--disable-@files", splitCommand(append(out[:len(out):len(out)], a)).main != "":
			return append(out, args[i:]...)
		}
		out = append(out, a)
	}
	return out
}

// splitWords splits at white space outside quotes. In argument files a
// backslash inside quotes escapes, and # outside them begins a comment.
func splitWords(s string, argFile bool) []string {
	var words []string
	var word strings.Builder
	var quote byte
	in := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && argFile && c == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, in = c, true
		case c == '#' && argFile && !in:
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.IndexByte(" \t\n\r\f", c) >= 0:
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}

// hasAgent tells whether the JVM was started with an agent that may redefine classes: one
// in Java, or the debugger's.
func (o jvmOptions) hasAgent() bool {
	return slices.ContainsFunc(o, func(s string) bool {
		return strings.HasPrefix(s, "-javaagent:") || strings.HasPrefix(s, "-agentlib:jdwp") || strings.HasPrefix(s, "-Xrunjdwp")
	})
}
