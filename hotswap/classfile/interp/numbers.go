package interp

import (
	"math"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// arithmetic executes iadd to lxor: four types take turns, up to the shifts.
func (f *frame) arithmetic(op classfile.Op) error {
	if op >= classfile.OpIneg && op <= classfile.OpDneg {
		f.negate(op)
		return nil
	}
	if op >= classfile.OpIshl {
		f.bits(op)
		return nil
	}
	kind := (op - classfile.OpIadd) / 4
	switch (op - classfile.OpIadd) % 4 {
	case 0:
		b, a := f.int(), f.int()
		if kind >= 3 && b == 0 {
			return f.vm.throw("java/lang/ArithmeticException")
		}
		f.push(whole(kind, a, b))
	case 1:
		b, a := f.long(), f.long()
		if kind >= 3 && b == 0 {
			return f.vm.throw("java/lang/ArithmeticException")
		}
		f.push(whole(kind, a, b))
	case 2:
		b, a := f.float(), f.float()
		f.push(float32(broken(kind, float64(a), float64(b))))
	default:
		b, a := f.dbl(), f.dbl()
		f.push(broken(kind, a, b))
	}
	return nil
}

func whole[T int32 | int64](kind classfile.Op, a, b T) T {
	switch kind {
	case 0:
		return a + b
	case 1:
		return a - b
	case 2:
		return a * b
	case 3:
		return a / b
	}
	return a % b
}

func broken(kind classfile.Op, a, b float64) float64 {
	switch kind {
	case 0:
		return a + b
	case 1:
		return a - b
	case 2:
		return a * b
	case 3:
		return a / b
	}
	return math.Mod(a, b)
}

func (f *frame) negate(op classfile.Op) {
	switch op {
	case classfile.OpIneg:
		f.push(-f.int())
	case classfile.OpLneg:
		f.push(-f.long())
	case classfile.OpFneg:
		f.push(-f.float())
	default:
		f.push(-f.dbl())
	}
}

// bits executes shifts and what is done bit by bit: int and long take turns.
func (f *frame) bits(op classfile.Op) {
	long := (op-classfile.OpIshl)%2 == 1
	if op <= classfile.OpLushr {
		by := f.int()
		if long {
			f.push(shift(op, f.long(), by&63, func(a int64, by int32) int64 { return int64(uint64(a) >> by) }))
		} else {
			f.push(shift(op, f.int(), by&31, func(a, by int32) int32 { return int32(uint32(a) >> by) }))
		}
		return
	}
	if long {
		b, a := f.long(), f.long()
		f.push(logic(op, a, b))
	} else {
		b, a := f.int(), f.int()
		f.push(logic(op, a, b))
	}
}

func shift[T int32 | int64](op classfile.Op, a T, by int32, unsigned func(T, int32) T) T {
	switch {
	case op <= classfile.OpLshl:
		return a << by
	case op <= classfile.OpLshr:
		return a >> by
	}
	return unsigned(a, by)
}

func logic[T int32 | int64](op classfile.Op, a, b T) T {
	switch {
	case op <= classfile.OpLand:
		return a & b
	case op <= classfile.OpLor:
		return a | b
	}
	return a ^ b
}

// convert executes i2l to dcmpg.
func (f *frame) convert(op classfile.Op) {
	switch op {
	case classfile.OpI2l:
		f.push(int64(f.int()))
	case classfile.OpI2f:
		f.push(float32(f.int()))
	case classfile.OpI2d:
		f.push(float64(f.int()))
	case classfile.OpL2i:
		f.push(int32(f.long()))
	case classfile.OpL2f:
		f.push(float32(f.long()))
	case classfile.OpL2d:
		f.push(float64(f.long()))
	case classfile.OpF2i:
		f.push(int32(clamp(float64(f.float()), math.MinInt32, math.MaxInt32)))
	case classfile.OpF2l:
		f.push(clamp(float64(f.float()), math.MinInt64, math.MaxInt64))
	case classfile.OpF2d:
		f.push(float64(f.float()))
	case classfile.OpD2i:
		f.push(int32(clamp(f.dbl(), math.MinInt32, math.MaxInt32)))
	case classfile.OpD2l:
		f.push(clamp(f.dbl(), math.MinInt64, math.MaxInt64))
	case classfile.OpD2f:
		f.push(float32(f.dbl()))
	case classfile.OpI2b:
		f.push(int32(int8(f.int())))
	case classfile.OpI2c:
		f.push(int32(uint16(f.int())))
	case classfile.OpI2s:
		f.push(int32(int16(f.int())))
	case classfile.OpLcmp:
		b, a := f.long(), f.long()
		f.push(order(a < b, a > b))
	case classfile.OpFcmpl, classfile.OpFcmpg:
		b, a := f.float(), f.float()
		f.push(order(a < b || op == classfile.OpFcmpl && (a != a || b != b), a > b || op == classfile.OpFcmpg && (a != a || b != b)))
	default:
		b, a := f.dbl(), f.dbl()
		f.push(order(a < b || op == classfile.OpDcmpl && (a != a || b != b), a > b || op == classfile.OpDcmpg && (a != a || b != b)))
	}
}

// clamp is a number as JVMS §2.8 makes it a whole one.
func clamp(v float64, least, most int64) int64 {
	switch {
	case v != v:
		return 0
	case v <= float64(least):
		return least
	case v >= float64(most):
		return most
	}
	return int64(v)
}

func order(less, more bool) int32 {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// shuffle executes pop to swap, by places.
func (f *frame) shuffle(op classfile.Op) {
	s := f.stack
	n := len(s)
	put := func(take int, back ...int) { // back counts from the deepest that is taken
		old := append([]Value(nil), s[n-take:]...)
		s = s[:n-take]
		for _, i := range back {
			s = append(s, old[i])
		}
	}
	switch op {
	case classfile.OpPop:
		put(1)
	case classfile.OpPop2:
		put(2)
	case classfile.OpDup:
		put(1, 0, 0)
	case classfile.OpDupX1:
		put(2, 1, 0, 1)
	case classfile.OpDupX2:
		put(3, 2, 0, 1, 2)
	case classfile.OpDup2:
		put(2, 0, 1, 0, 1)
	case classfile.OpDup2X1:
		put(3, 1, 2, 0, 1, 2)
	case classfile.OpDup2X2:
		put(4, 2, 3, 0, 1, 2, 3)
	default:
		put(2, 1, 0)
	}
	f.stack = s
}
