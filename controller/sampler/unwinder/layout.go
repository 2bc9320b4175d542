package unwinder

import (
	"fmt"
	"math"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// none marks a field that a JVM doesn't have.
const none = math.MaxUint64

// A Layout is where a JVM's structures have what the unwinder reads: offsets in bytes,
// addresses of statics. It is plain data, so that a recorded walk can be kept with it.
type Layout struct {
	// Statics: addresses of variables.
	Heap, Heaps                            uint64 // CodeCache: one heap (JDK 8), or a list of them
	Interpreter                            uint64 // AbstractInterpreter::_code
	CallStubReturn                         uint64
	ThreadList, ThreadArray                uint64 // a linked list (8, 11), or an array
	Flags, FlagCount                       uint64
	ContinuationReturn                     uint64 // 25
	ArrayLen, ArrayData                    uint64 // GrowableArray
	HeapMemory, HeapSegmap, HeapShift      uint64 // CodeHeap
	SpaceLow, SpaceHigh, SpaceHighBoundary uint64 // VirtualSpace
	BlockUsed, BlockSize                   uint64 // HeapBlock
	StubBuffer                             uint64 // StubQueue
	StubEnd, CodeletSize, CodeletText      uint64 // StubQueue, InterpreterCodelet; for arm64

	// CodeBlob.
	BlobName, BlobSize, BlobFrameSize, BlobComplete uint64
	BlobCodeBegin, BlobCodeEnd                      uint64 // pointers
	BlobCodeOffset, BlobDataOffset                  uint64 // from the blob, where there are no pointers
	BlobKind                                        uint64 // 23 and later; makes BlobComplete 16 bits wide
	BlobMutable, BlobMutableSize, BlobRelocation    uint64

	// nmethod, CompiledMethod.
	Method, CompileID, Level, EntryBCI, OSREntry, OrigPC uint64
	VerifiedEntry                                        uint64 // a pointer
	VerifiedOffset                                       uint64 // 16 bits, from the code's begin
	Deopt, DeoptMH                                       uint64 // pointers
	DeoptOffset, DeoptMHOffset                           uint64 // from the blob
	Metadata, ScopesPCs, Dependencies                    uint64 // from the blob (8 to 21)
	ScopesData                                           uint64 // a pointer (11 to 21)
	ScopesOffset                                         uint64 // from the blob (8), or from the immutable data
	Immutable, ImmutableSize                             uint64

	// PcDesc.
	DescPC, DescScope, DescSize uint64

	// Method, ConstMethod, ConstantPool, Klass, Symbol.
	ConstMethod, Access                                uint64
	Constants, NameIndex, SignatureIndex, CodeSize     uint64
	ConstFlags, ConstMethodSize, PoolHolder, PoolSize  uint64
	KlassName, SymbolLength, SymbolRefLength, SymbolAt uint64
	PoolLength                                         uint64
	KlassMethods                                       uint64 // of InstanceKlass; 0 in a core that was recorded without it
	MethodsLength, MethodsData                         uint64 // of Array<Method*>

	// JavaThread, OSThread, JavaFrameAnchor.
	NextThread, ListLength, ListThreads              uint64
	OSThread, ThreadID, Anchor, State                uint64
	StackBase, StackSize                             uint64
	LastSP, LastPC, LastFP, WrapperAnchor            uint64
	PendingMonitor, WaitingMonitor, MonitorObject    uint64
	FlagName, FlagAddr, FlagSize                     uint64
	EntryWrapper                                     int64 // words from rbp
	StateInNative, StateInVM, StateInJava, StateWait int64 // values of State, each + 1 in transition

	// Objects, for the names of threads.
	ThreadObject, HandleObject      uint64
	ThreadKlass, StringKlass        uint64 // statics
	OopBase, OopShift               uint64 // statics
	KlassBase, KlassShift           uint64 // statics
	KlassConstants                  uint64
	Fields, FieldCount, FieldStream uint64 // of InstanceKlass
	Super, LayoutHelper             uint64 // of Klass

	// Locks, and where a class says what file its source is.
	MonitorOwner               uint64 // a thread, a place on its stack, or (24 and later) its number
	MonitorStack               uint64 // of ObjectMonitor: a place on its owner's stack (24 and later)
	OwnerNumber                uint64 // of JavaThread: what MonitorOwner has (24 and later)
	LockStack                  uint64 // of JavaThread: objects that it has locked (21 and later)
	LockTop, LockBase          uint64 // of LockStack
	PoolSourceFile, SourceFile uint64 // of ConstantPool, or InstanceKlass
	MirrorKlass                uint64 // static: where a java.lang.Class has its class
	Subclass, Sibling          uint64 // of Klass
	InitState                  uint64 // of InstanceKlass
	JavaHeap                   uint64 // static: the CollectedHeap
	Collecting, Collections    uint64 // of CollectedHeap

	Arm64 bool `json:",omitempty"` // the target runs on arm64, not on x86-64

	// Excess is what each byte of a compressed number has too much: 1 from JDK 20 on.
	Excess byte
}

// A row says by which names a field goes. The last of a group of rows that stand for each
// other has the name that an error gives.
type row struct {
	to       *uint64
	optional bool
	names    []string
}

// NewLayout takes from a JVM's tables what the unwinder reads. It wraps
// [vmstructs.ErrUnknown], and names the field, if one is missing.
func NewLayout(t *vmstructs.Tables) (*Layout, error) {
	l := &Layout{}
	statics := []row{
		{&l.Heap, true, []string{"CodeCache::_heap"}},
		{&l.Heaps, true, []string{"CodeCache::_heaps"}},
		{&l.Interpreter, false, []string{"AbstractInterpreter::_code"}},
		{&l.CallStubReturn, false, []string{"StubRoutines::_call_stub_return_address"}},
		{&l.ThreadList, true, []string{"Threads::_thread_list"}},
		{&l.ThreadArray, true, []string{"ThreadsSMRSupport::_java_thread_list"}},
		{&l.Flags, true, []string{"JVMFlag::flags", "Flag::flags"}},
		{&l.FlagCount, true, []string{"JVMFlag::numFlags", "Flag::numFlags"}},
		{&l.ContinuationReturn, true, []string{"ContinuationEntry::_return_pc"}},
		{&l.ThreadKlass, true, wellKnown("Thread")},
		{&l.StringKlass, true, wellKnown("String")},
		{&l.OopBase, true, []string{"CompressedOops::_base", "CompressedOops::_narrow_oop._base", "Universe::_narrow_oop._base"}},
		{&l.KlassBase, true, []string{"CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base", "Universe::_narrow_klass._base"}},
		{&l.KlassShift, true, []string{"CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift", "Universe::_narrow_klass._shift"}},
		{&l.JavaHeap, true, []string{"Universe::_collectedHeap"}},
		{&l.MirrorKlass, true, []string{"java_lang_Class::_klass_offset"}},
		{&l.OopShift, true, []string{"CompressedOops::_shift", "CompressedOops::_narrow_oop._shift", "Universe::_narrow_oop._shift"}},
	}
	if err := resolve(statics, t.Static); err != nil {
		return nil, err
	}
	if err := resolve(l.codeRows(), t.Offset); err != nil {
		return nil, err
	}
	if err := resolve(l.otherRows(), t.Offset); err != nil {
		return nil, err
	}
	size := func(names ...string) (uint64, bool) {
		for _, n := range names {
			if s, ok := t.Size(n); ok {
				return s, true
			}
		}
		return 0, false
	}
	sizes := []row{
		{&l.BlockSize, false, []string{"HeapBlock"}},
		{&l.DescSize, false, []string{"PcDesc"}},
		{&l.ConstMethodSize, false, []string{"ConstMethod"}},
		{&l.PoolSize, false, []string{"ConstantPool"}},
		{&l.FlagSize, true, []string{"JVMFlag", "Flag"}},
	}
	if err := resolve(sizes, size); err != nil {
		return nil, err
	}
	for to, c := range map[*int64]struct {
		name  string
		value int64 // where a JVM doesn't say
	}{
		&l.EntryWrapper:  {"frame::entry_frame_call_wrapper_offset", -6},
		&l.StateInNative: {"_thread_in_native", 4},
		&l.StateInVM:     {"_thread_in_vm", 6},
		&l.StateInJava:   {"_thread_in_Java", 8},
		&l.StateWait:     {"_thread_blocked", 10},
	} {
		v, ok := t.Constant(c.name)
		if !ok {
			v = c.value
		}
		*to = v
	}
	// The numbers changed in JDK 20 (JDK-8292758); of the versions that are supported, those
	// with stacks of virtual threads in the heap have it.
	if _, ok := t.Size("InstanceStackChunkKlass"); ok {
		l.Excess = 1
	}
	return l, l.complete()
}

// wellKnown are the names of the variable that has a class of java.lang.
func wellKnown(class string) []string {
	return []string{
		"vmClasses::_klasses[static_cast<int>(vmClassID::" + class + "_klass_knum)]",
		"SystemDictionary::_well_known_klasses[SystemDictionary::" + class + "_klass_knum]",
	}
}

func (l *Layout) codeRows() []row {
	return []row{
		{&l.ArrayLen, true, []string{"GrowableArrayBase::_len", "GenericGrowableArray::_len"}},
		{&l.ArrayData, true, []string{"GrowableArray<int>::_data"}},
		{&l.HeapMemory, false, []string{"CodeHeap::_memory"}},
		{&l.HeapSegmap, false, []string{"CodeHeap::_segmap"}},
		{&l.HeapShift, false, []string{"CodeHeap::_log2_segment_size"}},
		{&l.SpaceLow, false, []string{"VirtualSpace::_low"}},
		{&l.SpaceHigh, false, []string{"VirtualSpace::_high"}},
		{&l.SpaceHighBoundary, false, []string{"VirtualSpace::_high_boundary"}},
		{&l.BlockUsed, false, []string{"HeapBlock::Header::_used"}},
		{&l.StubBuffer, false, []string{"StubQueue::_stub_buffer"}},
		{&l.StubEnd, true, []string{"StubQueue::_queue_end"}},
		{&l.CodeletSize, true, []string{"InterpreterCodelet::_size"}},
		{&l.CodeletText, true, []string{"InterpreterCodelet::_description"}},
		{&l.BlobName, false, []string{"CodeBlob::_name"}},
		{&l.BlobSize, false, []string{"CodeBlob::_size"}},
		{&l.BlobFrameSize, false, []string{"CodeBlob::_frame_size"}},
		{&l.BlobComplete, false, []string{"CodeBlob::_frame_complete_offset"}},
		{&l.BlobCodeBegin, true, []string{"CodeBlob::_code_begin"}},
		{&l.BlobCodeEnd, true, []string{"CodeBlob::_code_end"}},
		{&l.BlobCodeOffset, true, []string{"CodeBlob::_code_offset"}},
		{&l.BlobDataOffset, true, []string{"CodeBlob::_data_offset"}},
		{&l.BlobKind, true, []string{"CodeBlob::_kind"}},
		{&l.BlobMutable, true, []string{"CodeBlob::_mutable_data"}},
		{&l.BlobMutableSize, true, []string{"CodeBlob::_mutable_data_size"}},
		{&l.BlobRelocation, true, []string{"CodeBlob::_relocation_size"}},
		{&l.Method, false, []string{"nmethod::_method", "CompiledMethod::_method"}},
		{&l.CompileID, false, []string{"nmethod::_compile_id"}},
		{&l.Level, false, []string{"nmethod::_comp_level"}},
		{&l.EntryBCI, false, []string{"nmethod::_entry_bci"}},
		{&l.OSREntry, false, []string{"nmethod::_osr_entry_point"}},
		{&l.OrigPC, true, []string{"nmethod::_orig_pc_offset"}},
		{&l.VerifiedEntry, true, []string{"nmethod::_verified_entry_point"}},
		{&l.VerifiedOffset, true, []string{"nmethod::_verified_entry_offset"}},
		{&l.Deopt, true, []string{"CompiledMethod::_deopt_handler_begin"}},
		{&l.DeoptMH, true, []string{"CompiledMethod::_deopt_mh_handler_begin"}},
		{&l.DeoptOffset, true, []string{"nmethod::_deopt_handler_offset", "nmethod::_deoptimize_offset", "nmethod::_deopt_handler_entry_offset"}},
		{&l.DeoptMHOffset, true, []string{"nmethod::_deopt_mh_handler_offset", "nmethod::_deoptimize_mh_offset"}},
		{&l.Metadata, true, []string{"nmethod::_metadata_offset"}},
		{&l.ScopesPCs, false, []string{"nmethod::_scopes_pcs_offset"}},
		{&l.Dependencies, true, []string{"nmethod::_dependencies_offset"}},
		{&l.ScopesData, true, []string{"CompiledMethod::_scopes_data_begin"}},
		{&l.ScopesOffset, true, []string{"nmethod::_scopes_data_offset"}},
		{&l.Immutable, true, []string{"nmethod::_immutable_data"}},
		{&l.ImmutableSize, true, []string{"nmethod::_immutable_data_size"}},
		{&l.DescPC, false, []string{"PcDesc::_pc_offset"}},
		{&l.DescScope, false, []string{"PcDesc::_scope_decode_offset"}},
	}
}

func (l *Layout) otherRows() []row {
	return []row{
		{&l.ConstMethod, false, []string{"Method::_constMethod"}},
		{&l.Access, true, []string{"Method::_access_flags"}},
		{&l.Constants, false, []string{"ConstMethod::_constants"}},
		{&l.NameIndex, false, []string{"ConstMethod::_name_index"}},
		{&l.SignatureIndex, false, []string{"ConstMethod::_signature_index"}},
		{&l.CodeSize, false, []string{"ConstMethod::_code_size"}},
		{&l.ConstFlags, false, []string{"ConstMethod::_flags._flags", "ConstMethod::_flags"}},
		{&l.PoolHolder, false, []string{"ConstantPool::_pool_holder"}},
		{&l.KlassName, false, []string{"Klass::_name"}},
		{&l.SymbolLength, true, []string{"Symbol::_length"}},
		{&l.SymbolRefLength, true, []string{"Symbol::_length_and_refcount"}},
		{&l.SymbolAt, false, []string{"Symbol::_body", "Symbol::_body[0]"}},
		{&l.NextThread, true, []string{"JavaThread::_next"}},
		{&l.ListLength, true, []string{"ThreadsList::_length"}},
		{&l.ListThreads, true, []string{"ThreadsList::_threads"}},
		{&l.OSThread, false, []string{"JavaThread::_osthread", "Thread::_osthread"}},
		{&l.ThreadID, false, []string{"OSThread::_thread_id"}},
		{&l.Anchor, false, []string{"JavaThread::_anchor"}},
		{&l.State, false, []string{"JavaThread::_thread_state"}},
		{&l.StackBase, false, []string{"JavaThread::_stack_base", "Thread::_stack_base"}},
		{&l.StackSize, false, []string{"JavaThread::_stack_size", "Thread::_stack_size"}},
		{&l.LastSP, false, []string{"JavaFrameAnchor::_last_Java_sp"}},
		{&l.LastPC, false, []string{"JavaFrameAnchor::_last_Java_pc"}},
		{&l.LastFP, false, []string{"JavaFrameAnchor::_last_Java_fp"}},
		{&l.WrapperAnchor, false, []string{"JavaCallWrapper::_anchor"}},
		{&l.PendingMonitor, true, []string{"JavaThread::_current_pending_monitor", "Thread::_current_pending_monitor"}},
		{&l.WaitingMonitor, true, []string{"JavaThread::_current_waiting_monitor", "Thread::_current_waiting_monitor"}},
		{&l.MonitorObject, true, []string{"ObjectMonitor::_object"}},
		{&l.MonitorOwner, true, []string{"ObjectMonitor::_owner"}},
		{&l.MonitorStack, true, []string{"ObjectMonitor::_stack_locker"}},
		{&l.OwnerNumber, true, []string{"JavaThread::_monitor_owner_id"}},
		{&l.LockStack, true, []string{"JavaThread::_lock_stack"}},
		{&l.LockTop, true, []string{"LockStack::_top"}},
		{&l.LockBase, true, []string{"LockStack::_base[0]"}},
		{&l.PoolSourceFile, true, []string{"ConstantPool::_source_file_name_index"}},
		{&l.SourceFile, true, []string{"InstanceKlass::_source_file_name_index"}},
		{&l.ThreadObject, true, []string{"JavaThread::_threadObj"}},
		{&l.HandleObject, true, []string{"OopHandle::_obj"}},
		{&l.KlassConstants, true, []string{"InstanceKlass::_constants"}},
		{&l.KlassMethods, true, []string{"InstanceKlass::_methods"}},
		{&l.MethodsLength, true, []string{"Array<int>::_length"}},
		{&l.MethodsData, true, []string{"Array<Method*>::_data", "Array<Method*>::_data[0]"}},
		{&l.PoolLength, true, []string{"ConstantPool::_length"}},
		{&l.Super, true, []string{"Klass::_super"}},
		{&l.Subclass, true, []string{"Klass::_subklass"}},
		{&l.Sibling, true, []string{"Klass::_next_sibling"}},
		{&l.InitState, true, []string{"InstanceKlass::_init_state"}},
		{&l.Collecting, true, []string{"CollectedHeap::_is_stw_gc_active", "CollectedHeap::_is_gc_active"}},
		{&l.Collections, true, []string{"CollectedHeap::_total_collections"}},
		{&l.LayoutHelper, true, []string{"Klass::_layout_helper"}},
		{&l.Fields, true, []string{"InstanceKlass::_fields"}},
		{&l.FieldCount, true, []string{"InstanceKlass::_java_fields_count"}},
		{&l.FieldStream, true, []string{"InstanceKlass::_fieldinfo_stream"}},
		{&l.FlagName, true, []string{"JVMFlag::_name", "Flag::_name"}},
		{&l.FlagAddr, true, []string{"JVMFlag::_addr", "Flag::_addr"}},
	}
}

func resolve(rows []row, find func(names ...string) (uint64, bool)) error {
	for _, r := range rows {
		v, ok := find(r.names...)
		switch {
		case ok:
			*r.to = v
		case r.optional:
			*r.to = none
		default:
			return fmt.Errorf("%w: no %s", vmstructs.ErrUnknown, r.names[len(r.names)-1])
		}
	}
	return nil
}

// complete sees that of fields that stand for each other there is one, and that structures are as
// large as their fields need.
func (l *Layout) complete() error {
	for name, size := range map[string]bool{
		"HeapBlock":    l.BlockSize > 0,
		"PcDesc":       l.DescSize >= max(l.DescPC, l.DescScope)+4,
		"ConstMethod":  l.ConstMethodSize > 0,
		"ConstantPool": l.PoolSize > 0,
		"JVMFlag":      l.FlagSize > 0,
	} {
		if !size {
			return fmt.Errorf("%w: %s has no size", vmstructs.ErrUnknown, name)
		}
	}
	for name, fields := range map[string][]uint64{
		"CodeCache::_heaps":                     {l.Heap, l.Heaps},
		"CodeBlob::_code_begin":                 {l.BlobCodeBegin, l.BlobCodeOffset},
		"CodeBlob::_data_offset":                {l.BlobCodeEnd, l.BlobDataOffset},
		"nmethod::_scopes_data_offset":          {l.ScopesData, l.ScopesOffset},
		"nmethod::_dependencies_offset":         {l.Dependencies, l.Immutable},
		"Symbol::_length":                       {l.SymbolLength, l.SymbolRefLength},
		"ThreadsSMRSupport::_java_thread_list":  {l.ThreadArray, l.ThreadList},
		"ThreadsList::_threads":                 {l.ListThreads, l.NextThread},
		"GrowableArray<int>::_data":             {l.ArrayData, l.Heap},
		"nmethod::_metadata_offset":             {l.Metadata, l.BlobMutable},
		"nmethod::_verified_entry_point":        {l.VerifiedEntry, l.VerifiedOffset},
		"nmethod::_deopt_handler_offset":        {l.Deopt, l.DeoptOffset},
		"nmethod::_immutable_data_size":         {l.ImmutableSize, l.Dependencies},
		"CodeBlob::_mutable_data_size":          {l.BlobMutableSize, l.Metadata},
		"CodeBlob::_relocation_size":            {l.BlobRelocation, l.Metadata},
		"GrowableArrayBase::_len":               {l.ArrayLen, l.Heap},
		"ThreadsList::_length":                  {l.ListLength, l.NextThread},
		"JavaThread::_next, ThreadsList::_list": {l.NextThread, l.ThreadArray},
	} {
		found := false
		for _, f := range fields {
			found = found || f != none
		}
		if !found {
			return fmt.Errorf("%w: no %s", vmstructs.ErrUnknown, name)
		}
	}
	return nil
}
