package agent

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A script is cancelled between two operations. One operation may make a value as large as it
// likes, so those that can make a large one of small ones are looked at before they are done:
// sums, products, formatting by %, and the methods join, replace and format of strings.
const (
	maxElements = 1 << 20 // of a list or tuple that one operation makes
	maxLetters  = 1 << 24 // of a string that one operation makes
)

// Names of what guards call. No script can have them by accident.
const (
	operandName = "__operand"
	addendName  = "__addend"
	methodName  = "__method"
)

// guarded are the methods of strings that are looked at.
var guarded = map[string]bool{"join": true, "replace": true, "format": true}

// guard rewrites a file so that its operations are looked at.
func guard(f *syntax.File) {
	wrap := func(name string, e syntax.Expr) syntax.Expr {
		start, _ := e.Span()
		return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: start, Name: name}, Lparen: start, Args: []syntax.Expr{e}, Rparen: start}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryExpr:
			switch n.Op {
			case syntax.STAR, syntax.PLUS:
				n.Y = wrap(operandName, n.Y)
			case syntax.PERCENT: // a string on its left asks nobody
				n.X = wrap(operandName, n.X)
			}
		case *syntax.AssignStmt:
			switch n.Op {
			case syntax.STAR_EQ:
				n.RHS = wrap(operandName, n.RHS)
			case syntax.PLUS_EQ:
				n.RHS = wrap(addendName, n.RHS)
			}
		case *syntax.CallExpr:
			if dot, is := n.Fn.(*syntax.DotExpr); is && guarded[dot.Name.Name] {
				n.Fn = wrap(methodName, dot)
			}
		}
		return true
	})
}

// An operand is the right side of a sum or product, or the left side of %.
type operand struct{ starlark.Value }

// Binary implements starlark.HasBinary. The error says that the result would be too large.
func (o operand) Binary(op syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if op == syntax.PERCENT && side == starlark.Left {
		if _, text := o.Value.(starlark.String); text {
			if err := tooLong("a text", size(2*maxLetters, o.Value, x), maxLetters, "letters"); err != nil {
				return nil, err
			}
		}
		return starlark.Binary(op, o.Value, x)
	}
	if side != starlark.Right {
		return nil, nil
	}
	err := error(nil)
	switch op {
	case syntax.STAR:
		err = product(x, o.Value)
	case syntax.PLUS:
		if _, text := x.(starlark.String); text {
			err = tooLong("a sum", int64(starlark.Len(x)+max(starlark.Len(o.Value), 0)), maxLetters, "letters")
		} else if n := starlark.Len(x); n >= 0 {
			err = tooLong("a sum", int64(n+max(starlark.Len(o.Value), 0)), maxElements, "elements")
		}
	}
	if err != nil {
		return nil, err
	}
	return starlark.Binary(op, x, o.Value)
}

// addend is the right side of a sum in place. Only that of a string is looked at: a list
// must see the value itself to grow in place, and grows to twice its size at most.
func addend(v starlark.Value) starlark.Value {
	if _, text := v.(starlark.String); text {
		return operand{v}
	}
	return v
}

func tooLong(what string, n, most int64, of string) error {
	if n > most {
		return fmt.Errorf("%s of more than %d %s", what, most, of)
	}
	return nil
}

// product looks at x * y, either of which may be the number.
func product(x, y starlark.Value) error {
	for _, p := range [][2]starlark.Value{{x, y}, {y, x}} {
		n, ok := p[1].(starlark.Int)
		if !ok {
			continue
		}
		k, small := n.Int64()
		most := int64(maxElements)
		switch p[0].(type) {
		case starlark.String, starlark.Bytes:
			most = maxLetters
		case starlark.Int:
			continue
		}
		if length := int64(max(starlark.Len(p[0]), 0)); length > 0 && (!small && n.Sign() > 0 || k > most/length) {
			return fmt.Errorf("a product of more than %d elements", most)
		}
	}
	return nil
}

// guardMethod is what a guarded method of a value is called by; what is no string's is left as
// it is.
func guardMethod(method starlark.Value) starlark.Value {
	b, ok := method.(*starlark.Builtin)
	if !ok {
		return method
	}
	text, ok := b.Receiver().(starlark.String)
	if !ok {
		return method
	}
	return starlark.NewBuiltin(b.Name(), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := tooLong(b.Name()+": a text", made(b.Name(), text, args, kwargs), maxLetters, "letters"); err != nil {
			return nil, err
		}
		return starlark.Call(t, b, args, kwargs)
	})
}

// made is how long the text can be that a method makes. The text itself is not too long.
func made(method string, text starlark.String, args starlark.Tuple, kwargs []starlark.Tuple) int64 {
	own := int64(len(text))
	switch {
	case method == "join" && len(args) == 1:
		list, ok := args[0].(starlark.Iterable)
		if !ok {
			return 0
		}
		n := int64(0)
		for e := range starlark.Elements(list) {
			if n += own; n > maxLetters {
				break
			}
			if s, ok := e.(starlark.String); ok {
				n += int64(len(s))
			}
		}
		return n
	case method == "replace" && len(args) >= 2:
		old, _ := args[0].(starlark.String)
		with, _ := args[1].(starlark.String)
		return own + (own/max(int64(len(old)), 1)+1)*int64(len(with))
	case method == "format":
		all := append(starlark.Tuple{}, args...)
		for _, k := range kwargs {
			all = append(all, k[1])
		}
		one := size(2*maxLetters, all...) // a field may stand more than once
		return own + (own/2+1)*min(one, maxLetters)
	}
	return 0
}
