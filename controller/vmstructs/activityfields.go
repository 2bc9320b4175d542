package vmstructs

import "fmt"

// fields are offsets that only an Observer needs.
type fields struct {
	code, counters, profile    uint64 // of Method
	calls                      uint64 // of MethodCounters
	profiled                   uint64 // of MethodData
	level                      uint64 // of nmethod
	osrHead, osrLink, nmMethod uint64
	metadata                   func(m *memory, nmethod uint64) (from, to uint64)
	methodSize                 uint64 // bytes of a Method that hold all of the above
	constMethod                uint64
	codeSize                   uint64 // of ConstMethod
}

// fields finds what an Observer needs by which entries there are, not by the version.
func (l *layout) fields() (f fields, err error) {
	need := func(names ...string) uint64 {
		for _, n := range names {
			if off, ok := l.offsets[n]; ok && off < pageSize {
				return off
			}
		}
		if err == nil {
			err = fmt.Errorf("%w: no %s", ErrUnknown, names[0])
		}
		return 0
	}
	f.code, f.counters, f.profile = need("Method::_code"), need("Method::_method_counters"), need("Method::_method_data")
	f.constMethod, f.codeSize = need("Method::_constMethod"), need("ConstMethod::_code_size")
	if size := l.sizes["ConstMethod"]; size == 0 || size > pageSize {
		err = fmt.Errorf("%w: no size of ConstMethod", ErrUnknown)
	}
	f.methodSize = max(f.code, f.counters, f.profile, f.constMethod) + 8
	f.calls = need("MethodCounters::_invocation_counter")
	f.level, f.nmMethod = need("nmethod::_comp_level"), need("nmethod::_method", "CompiledMethod::_method")
	f.osrHead, f.osrLink = need("InstanceKlass::_osr_nmethods_head"), need("nmethod::_osr_link")
	// A MethodData has before _tenure_traps the counter of invocations, that of loops, and
	// where both began; JDK 12 to 24 have the mileage before them (methodData.hpp).
	arg, traps := need("MethodData::_arg_returned"), need("MethodData::_tenure_traps")
	if f.profiled = traps - 16; err == nil && (traps < arg+24 || traps > arg+28) {
		err = fmt.Errorf("%w: no counters in MethodData", ErrUnknown)
	}
	has := func(name string) bool { _, ok := l.offsets[name]; return ok }
	switch {
	case has("CodeBlob::_mutable_data"): // JDK 25
		data, size, skip := need("CodeBlob::_mutable_data"), need("CodeBlob::_mutable_data_size"), need("CodeBlob::_relocation_size")
		f.metadata = func(m *memory, n uint64) (uint64, uint64) {
			at := m.u64(n + data)
			return at + uint64(m.u32(n+skip)), at + uint64(m.u32(n+size))
		}
	case has("CompiledMethod::_scopes_data_begin"): // 11 to 21
		from, to := need("nmethod::_metadata_offset"), need("CompiledMethod::_scopes_data_begin")
		f.metadata = func(m *memory, n uint64) (uint64, uint64) { return n + uint64(m.u32(n+from)), m.u64(n + to) }
	default:
		err = fmt.Errorf("%w: no metadata of compiled code", ErrUnknown)
	}
	return f, err
}
