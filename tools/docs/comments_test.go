package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// saysErrors matches a comment that tells of what kind an error is, or when there is one.
var saysErrors = regexp.MustCompile(`\b[Ee]rrors?\b|\bfails?\b|\bfailure|\bErr[A-Z]|Error\b|\brefus|\berr\b`)

// saysErrorsOfAll matches a package's comment that does so for all of its functions.
var saysErrorsOfAll = regexp.MustCompile(`\b[Ee]rrors?\b|\bfailure\b|Error\b`)

const errorMissing = "doesn't say which error it returns, or when; nor does its package's"

// saysConcurrency matches a comment that says who may use a value at a time.
var saysConcurrency = regexp.MustCompile(`goroutine|concurren|owner|at a time|any time|thread`)

// TestComments checks what comments of exported names have to say: of a function that
// returns an error, which one or when; of a type with a lock, an atomic word or a channel
// of its own, who may use it at a time.
func TestComments(t *testing.T) {
	missing := map[string]string{} // messages, and the package's folder
	said := map[string]bool{}      // folders of packages whose comment speaks of errors
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".cache" || e.Name() == "testdata" || e.Name() == "tools" || e.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil || f.Name.Name == "main" {
			return err
		}
		dir := filepath.Dir(path)
		said[dir] = said[dir] || saysErrorsOfAll.MatchString(f.Doc.Text())
		for _, d := range f.Decls {
			for _, m := range lacking(set, d) {
				missing[m] = dir
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Sorted(maps.Keys(missing)) {
		if strings.HasSuffix(m, errorMissing) && said[missing[m]] {
			continue
		}
		t.Error(m)
	}
}

func lacking(set *token.FileSet, d ast.Decl) (out []string) {
	at := func(n ast.Node) string {
		p := set.Position(n.Pos())
		rel, _ := filepath.Rel(root, p.Filename)
		return fmt.Sprintf("%s:%d", rel, p.Line)
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || !ofExported(d) || !returnsError(d.Type) || conventional[d.Name.Name] {
			return nil
		}
		if text := d.Doc.Text(); !saysErrors.MatchString(text) {
			out = append(out, fmt.Sprintf("%s: the comment of %s "+errorMissing, at(d), d.Name.Name))
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			ts, ok := s.(*ast.TypeSpec)
			if !ok || !ts.Name.IsExported() {
				continue
			}
			st, ok := ts.Type.(*ast.StructType)
			if !ok || !shares(st) {
				continue
			}
			doc := ts.Doc.Text()
			if doc == "" {
				doc = d.Doc.Text()
			}
			if !saysConcurrency.MatchString(doc) {
				out = append(out, fmt.Sprintf("%s: the comment of %s doesn't say who may use it at a time", at(ts), ts.Name.Name))
			}
		}
	}
	return out
}

// conventional are methods of interfaces that everybody knows.
var conventional = map[string]bool{
	"Close": true, "Error": true, "Write": true, "Read": true, "Set": true, "MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"Unwrap": true, "ServeHTTP": true, "WriteTo": true, "ReadFrom": true,
}

// ofExported tells whether a function is no method, or one of an exported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if i, ok := t.(*ast.IndexExpr); ok {
		t = i.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

func returnsError(f *ast.FuncType) bool {
	if f.Results == nil {
		return false
	}
	for _, r := range f.Results.List {
		if id, ok := r.Type.(*ast.Ident); ok && id.Name == "error" {
			return true
		}
	}
	return false
}

// shares tells whether a struct has a lock, an atomic word or a channel.
func shares(s *ast.StructType) bool {
	for _, f := range s.Fields.List {
		switch t := f.Type.(type) {
		case *ast.ChanType:
			return true
		case *ast.SelectorExpr:
			if x, ok := t.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
				return true
			}
		}
	}
	return false
}
