package interp

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// Blockwise is [VM].Executed as if each basic block were executed as a whole when it
// begins. Calls and exceptions end no block (the "Default BBA" of Binder and Hulaas,
// "Exact and Portable Profiling for the JVM Using Bytecode Instruction Counting",
// section 4).
func (vm *VM) Blockwise() map[string]int64 {
	executed := map[string]int64{}
	for key, ran := range vm.At {
		code := vm.codes[key].Bytecode
		begins := map[int]bool{0: true}
		for _, h := range vm.codes[key].Handlers {
			begins[int(h.Handler)] = true
		}
		for s := classfile.Scan(code); s.Next(); {
			switch s.Op.Info().Flow {
			case classfile.FlowNext:
				continue
			case classfile.FlowBranch, classfile.FlowJump:
				begins[s.Target()] = true
			case classfile.FlowSwitch:
				sw, _ := s.Switch(code)
				begins[s.Offset+int(sw.Default)] = true
				for i := range sw.Count {
					begins[s.Offset+int(sw.Offset(i))] = true
				}
			}
			begins[s.Offset+s.Size] = true
		}
		entered := int64(0)
		for s := classfile.Scan(code); s.Next(); {
			if begins[s.Offset] {
				entered = ran[s.Offset]
			}
			executed[key] += entered
		}
	}
	return executed
}

// Of is [VM].Executed of some instructions alone.
func (vm *VM) Of(is func(classfile.Op) bool) map[string]int64 {
	executed := map[string]int64{}
	for key, ran := range vm.At {
		for s := classfile.Scan(vm.codes[key].Bytecode); s.Next(); {
			if is(s.Op) {
				executed[key] += ran[s.Offset]
			}
		}
	}
	return executed
}
