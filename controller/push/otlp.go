package push

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// OTLP is the report as an OTLP message: one profile for each sample type of the
// pprof form, since a profile has one type in this version. Its bytes are those of
// an ExportProfilesServiceRequest, too. The error is of a report that pprof can't hold.
//
// The resource has service.name, host.name, process.pid (unless the report is of
// several JVMs), process.runtime.name and version, and the labels. A sample's thread
// is its attribute thread.name; a Java frame has profile.frame.type "jvm". A sample
// whose value is 0 is left out of the profile of that type.
//
// Each of the slowest root calls that was part of a span has a profile of its own, of type
// [RootCallSelf], whose samples are linked with that span.
func OTLP(r *export.Report, o Origin) (*otlp.ProfilesData, error) {
	p, err := profileOf(r, o)
	if err != nil {
		return nil, err
	}
	d := newDictionary()
	out := &otlp.ScopeProfiles{Scope: &common.InstrumentationScope{Name: "rivulet"}}
	for i, t := range p.SampleType {
		one := &otlp.Profile{
			SampleType: d.valueType(t), TimeUnixNano: uint64(p.TimeNanos), DurationNano: uint64(p.DurationNanos),
			AttributeIndices: []int32{d.attribute("rivulet.how", r.How())},
		}
		if len(r.Roots) > 0 {
			one.AttributeIndices = append(one.AttributeIndices, d.attribute("rivulet.roots", strings.Join(r.Roots, " ")))
		}
		if p.Period > 0 {
			one.PeriodType, one.Period = d.valueType(p.PeriodType), p.Period
		}
		for _, s := range p.Sample {
			if s.Value[i] == 0 {
				continue
			}
			sample := &otlp.Sample{StackIndex: d.stack(s.Location), Values: []int64{s.Value[i]}}
			for _, thread := range s.Label["thread"] {
				sample.AttributeIndices = append(sample.AttributeIndices, d.attribute("thread.name", thread))
			}
			one.Samples = append(one.Samples, sample)
		}
		out.Profiles = append(out.Profiles, one)
	}
	linked, err := d.linked(r, p.TimeNanos)
	if err != nil {
		return nil, err
	}
	out.Profiles = append(out.Profiles, linked...)
	data := &otlp.ProfilesData{
		Dictionary:       d.ProfilesDictionary,
		ResourceProfiles: []*otlp.ResourceProfiles{{Resource: resourceOf(r, o), ScopeProfiles: []*otlp.ScopeProfiles{out}}},
	}
	whole, err := proto.MarshalOptions{Deterministic: true}.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	for i, one := range out.Profiles {
		id := sha256.Sum256(append(whole, byte(i)))
		one.ProfileId = id[:16]
	}
	return data, nil
}

func resourceOf(r *export.Report, o Origin) *resource.Resource {
	out := &resource.Resource{}
	add := func(key string, v *common.AnyValue) {
		out.Attributes = append(out.Attributes, &common.KeyValue{Key: key, Value: v})
	}
	for _, a := range [][2]string{{"service.name", o.Service}, {"host.name", o.Host}, {"process.runtime.name", r.Target.VM}, {"process.runtime.version", r.Target.Java}} {
		if _, own := o.Labels[a[0]]; a[1] != "" && !own {
			add(a[0], text(a[1]))
		}
	}
	if _, own := o.Labels["process.pid"]; len(r.Processes) == 0 && r.Target.PID > 0 && !own {
		add("process.pid", &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: int64(r.Target.PID)}})
	}
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		add(key, text(o.Labels[key]))
	}
	return out
}

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "\uFFFD")}}
}

// A dictionary is the tables of a message with what is needed to fill them. Entry 0 of
// each table is the zero value, as the protocol demands.
type dictionary struct {
	*otlp.ProfilesDictionary
	texts      map[string]int32
	attributes map[[2]string]int32
	stacks     map[string]int32
	locations  map[string]int32 // by what they say: those of several pprof profiles have the same ids
}

func newDictionary() *dictionary {
	return &dictionary{
		ProfilesDictionary: &otlp.ProfilesDictionary{
			MappingTable: []*otlp.Mapping{{}}, LocationTable: []*otlp.Location{{}}, FunctionTable: []*otlp.Function{{}}, LinkTable: []*otlp.Link{{}},
			StringTable: []string{""}, AttributeTable: []*otlp.KeyValueAndUnit{{}}, StackTable: []*otlp.Stack{{}},
		},
		texts: map[string]int32{"": 0}, attributes: map[[2]string]int32{}, stacks: map[string]int32{}, locations: map[string]int32{},
	}
}

func (d *dictionary) text(s string) int32 {
	s = strings.ToValidUTF8(s, "\uFFFD")
	i, ok := d.texts[s]
	if !ok {
		i = int32(len(d.StringTable))
		d.StringTable, d.texts[s] = append(d.StringTable, s), i
	}
	return i
}

func (d *dictionary) valueType(t *profile.ValueType) *otlp.ValueType {
	return &otlp.ValueType{TypeStrindex: d.text(t.Type), UnitStrindex: d.text(t.Unit)}
}

func (d *dictionary) attribute(key, value string) int32 {
	i, ok := d.attributes[[2]string{key, value}]
	if !ok {
		i = int32(len(d.AttributeTable))
		d.AttributeTable = append(d.AttributeTable, &otlp.KeyValueAndUnit{KeyStrindex: d.text(key), Value: text(value)})
		d.attributes[[2]string{key, value}] = i
	}
	return i
}

// stack has the innermost frame first, as pprof has it.
func (d *dictionary) stack(frames []*profile.Location) int32 {
	key := make([]byte, 0, 4*len(frames))
	s := &otlp.Stack{}
	for _, l := range frames {
		at := d.location(l)
		s.LocationIndices = append(s.LocationIndices, at)
		key = binary.LittleEndian.AppendUint32(key, uint32(at))
	}
	i, ok := d.stacks[string(key)]
	if !ok {
		i = int32(len(d.StackTable))
		d.StackTable, d.stacks[string(key)] = append(d.StackTable, s), i
	}
	return i
}

func (d *dictionary) location(l *profile.Location) int32 {
	var says strings.Builder
	for _, line := range l.Line {
		f := line.Function
		fmt.Fprintf(&says, "%s\x00%s\x00%s\x00%d\x00%d\x00", f.SystemName, f.Name, f.Filename, f.StartLine, line.Line)
	}
	key := says.String()
	i, ok := d.locations[key]
	if ok {
		return i
	}
	out := &otlp.Location{}
	for _, line := range l.Line {
		f := line.Function
		out.Lines = append(out.Lines, &otlp.Line{FunctionIndex: int32(len(d.FunctionTable)), Line: line.Line})
		d.FunctionTable = append(d.FunctionTable, &otlp.Function{
			NameStrindex: d.text(f.Name), SystemNameStrindex: d.text(f.SystemName), FilenameStrindex: d.text(f.Filename), StartLine: f.StartLine,
		})
		if isJava(f.SystemName) {
			out.AttributeIndices = []int32{d.attribute("profile.frame.type", "jvm")}
		}
	}
	i = int32(len(d.LocationTable))
	d.LocationTable, d.locations[key] = append(d.LocationTable, out), i
	return i
}

// isJava tells names with a descriptor (JVMS §4.3.3), which has the type of the result
// behind the bracket, from names of native functions.
func isJava(name string) bool {
	i := strings.LastIndexByte(name, ')')
	return i > 0 && i+1 < len(name) && !strings.Contains(name, " ")
}
