package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/classpath"
	"github.com/rivulet-profiler/rivulet/controller/jdkcalls"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// jdkCalls are the methods of the program that the JDK's code can call, for schemes that
// leave out callbacks which nothing in the JDK names (docs/decisions/0008).
type jdkCalls struct {
	names *jdkcalls.Names // nil: it may call anything
	told  int             // of names, how many the scheme has heard of
	took  func(names []string, last bool)
}

// lookups is the class by which methods are found for method handles, by name.
const lookups = "java/lang/invoke/MethodHandles$Lookup"

// proxyCall is what every proxy calls, be it one that was made in the boot loader.
const proxyCall, proxyDesc = "invoke", "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;"

// madeUp are the beginnings of names of classes that the JDK makes at run time, in
// no other loader's name: they name nothing that no other class does. So do
// proxies, which can be in any package.
var madeUp = []string{
	"java/lang/invoke/", "jdk/internal/reflect/Generated", "sun/reflect/Generated", "java/lang/Rivulet$",
	"jdk/jfr/internal/handlers/EventHandler", // Flight Recorder's, before JDK 19
}

// foreign are the beginnings of options by which others put code into the JDK's
// classes. A debugger's agent comes with the JDK.
var foreign = []string{"-javaagent:", "-agentpath:", "-agentlib:", "-Xrun", "-Xbootclasspath", "--patch-module", "--upgrade-module-path"}

// findJDKCalls begins to find out what the JDK's code can call, if the scheme wants
// to know. wait waits for that, stop gives it up. Where it can't be told, the
// scheme takes it for anything, which costs probes that are never called.
func (s *Session) findJDKCalls(ctx context.Context, make func(*cha.Hierarchy) scheme.Scheme) (wait func() error, stop func()) {
	forget := func() error { return s.do(ctx, func() { s.loop.jdkCalls = jdkCalls{} }) }
	if _, ok := make(cha.New()).(scheme.Selector); !ok {
		return forget, func() {}
	}
	under, cancel := context.WithCancel(ctx)
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { err = s.gatherCalls(under) })
	wait = func() error {
		wg.Wait()
		if err == nil || ctx.Err() != nil || s.ctx.Err() != nil {
			return err
		}
		s.log.Debug("all callbacks", "reason", err)
		return forget()
	}
	return wait, func() {
		cancel()
		wg.Wait()
	}
}

// gatherCalls gathers the names. From the first moment on, the load hook adds
// to them.
func (s *Session) gatherCalls(ctx context.Context) error {
	if s.proc.Major() < 9 {
		return errors.New("before JDK 9 there is no runtime image, and shared classes are loaded without a word")
	}
	for _, o := range s.proc.Options {
		i := slices.IndexFunc(foreign, func(p string) bool { return strings.HasPrefix(o, p) })
		if i >= 0 && !strings.Contains(o, "jdwp") && !strings.Contains(o, s.room.Boot) && !isOwnAgent(s.proc.PID, o) {
			return fmt.Errorf("%s may change the JDK's classes", o)
		}
	}
	lib, err := attach.RuntimeLib(s.proc.PID)
	if err != nil {
		return err
	}
	files := classpath.New(s.proc.PID, s.proc.Started)
	f, err := files.Open(path.Join(lib, "modules"))
	if err != nil {
		return err
	}
	defer f.Close()
	var wg sync.WaitGroup
	var image *jdkcalls.Image
	words := jdkcalls.NewNames()
	var imageErr, wordsErr error
	wg.Go(func() { image, imageErr = jdkcalls.NewImage(f) })
	wg.Go(func() { wordsErr = s.libraryWords(files, lib, words) })
	loaded, err := s.loadedNames(ctx)
	wg.Wait()
	if err = errors.Join(err, imageErr, wordsErr); err != nil {
		return err
	}
	parts, err := namedBy(image, loaded)
	if err != nil {
		return err
	}
	return s.do(ctx, func() {
		c := &s.loop.jdkCalls
		if c.names == nil {
			return // a class that could not be read
		}
		for _, n := range append(parts, words, s.loop.lookedUp) {
			c.names.Merge(n)
		}
		s.log.Debug("what the JDK names", "classes", len(loaded), "names", c.names.Len())
	})
}

// loadedNames begins to take notice of what the JDK loads, and lists what it has
// loaded.
func (s *Session) loadedNames(ctx context.Context) (loaded []string, err error) {
	err = s.wait(ctx, func(done func()) {
		l := &s.loop
		l.jdkCalls = jdkCalls{names: jdkcalls.NewNames()}
		l.jdkCalls.names.Ref(proxyCall, proxyDesc)
		l.jdkCalls.took = func(names []string, last bool) {
			loaded = append(loaded, names...)
			if last {
				l.jdkCalls.took = nil
				done()
			}
		}
		l.namesDue++
		l.send(&link.ListNames{})
	})
	return loaded, err
}

// namedBy returns what classes of the JDK name, in several parts.
func namedBy(image *jdkcalls.Image, classes []string) ([]*jdkcalls.Names, error) {
	parts := make([]*jdkcalls.Names, min(runtime.NumCPU(), 4))
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i := range parts {
		parts[i] = jdkcalls.NewNames()
		wg.Go(func() {
			for k := i; k < len(classes) && errs[i] == nil; k += len(parts) {
				errs[i] = addNamed(image, classes[k], parts[i])
			}
		})
	}
	wg.Wait()
	return parts, errors.Join(errs...)
}

func addNamed(image *jdkcalls.Image, class string, to *jdkcalls.Names) error {
	b, err := image.Class(class)
	if errors.Is(err, fs.ErrNotExist) && (isProxy(class) || slices.ContainsFunc(madeUp, func(p string) bool { return strings.HasPrefix(class, p) })) {
		return nil
	}
	if err != nil {
		return err // of another agent, say
	}
	return to.Class(b)
}

// isProxy tells the names that java.lang.reflect.Proxy gives: in the package of an
// interface, or one of its own, "com.sun.proxy.jdk.proxy1" on JDK 17.
func isProxy(class string) bool {
	number, ok := strings.CutPrefix(path.Base(class), "$Proxy")
	_, err := strconv.ParseUint(number, 10, 64)
	return ok && err == nil
}

// libraryWords adds the names in all libraries of a JDK: nobody tells when it loads
// another.
func (s *Session) libraryWords(from *classpath.Files, lib string, to *jdkcalls.Names) error {
	var words []string
	for _, dir := range []string{lib, path.Join(lib, "server"), path.Join(lib, "client"), path.Join(lib, "minimal")} {
		files, err := attach.ReadDir(s.proc.PID, dir)
		if errors.Is(err, fs.ErrNotExist) && dir != lib {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range files {
			if !strings.HasSuffix(e.Name(), ".so") {
				continue
			}
			f, err := from.Open(path.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			more, err := jdkcalls.Words(f)
			f.Close()
			if err != nil {
				return fmt.Errorf("%s: %w", e.Name(), err)
			}
			words = append(words, more...)
		}
	}
	to.Native(words)
	return nil
}

// onNames takes a part of a listing of the JDK's classes.
func (l *loop) onNames(q *link.Names) {
	if l.jdkCalls.took != nil && l.namesDue == 1 { // not those of one that was given up
		l.jdkCalls.took(q.Names, q.Last)
	}
	if q.Last {
		l.namesDue--
	}
}

// named takes note of what a class of the JDK can call that is being loaded or
// changed.
func (l *loop) named(id cha.ClassID, b []byte) {
	c := &l.jdkCalls
	if c.names == nil || !l.ofJDK(id) {
		return
	}
	if err := c.names.Class(b); err != nil {
		l.s.log.Debug("all callbacks", "class", id, "reason", err)
		c.names = nil
	}
}

// looksUp takes note of what a class of the program names that looks methods up
// for method handles: the JDK may come to call them.
func (l *loop) looksUp(p *parsed) {
	for i := range p.mirror.Methods {
		for k := range p.mirror.Methods[i].Calls {
			if p.mirror.Methods[i].Calls[k].Owner != lookups {
				continue
			}
			for _, n := range []*jdkcalls.Names{l.lookedUp, l.jdkCalls.names} {
				if n != nil {
					n.Class(p.bytes) //nolint:errcheck // it was parsed
				}
			}
			return
		}
	}
}

// selectCallbacks tells the scheme what the JDK can call, if it wants to know.
func (l *loop) selectCallbacks() {
	sel, ok := l.scheme.(scheme.Selector)
	if !ok {
		return
	}
	l.jdkCalls.told = -1
	if names := l.jdkCalls.names; names != nil {
		l.jdkCalls.told = names.Len()
		sel.Select(names.Calls)
	}
}

// moreCallbacks plans what the JDK can call by names that have come since the
// scheme last heard of them.
func (l *loop) moreCallbacks() scheme.Plan {
	sel, ok := l.scheme.(scheme.Selector)
	c := &l.jdkCalls
	switch {
	case !ok || c.told < 0:
		return scheme.Plan{}
	case c.names == nil:
		c.told = -1
		sel.Select(nil)
	case c.told == c.names.Len():
		return scheme.Plan{}
	default:
		c.told = c.names.Len()
	}
	return sel.Named()
}
