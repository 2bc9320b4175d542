package push

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A label and the two types around it are Pyroscope's push.v1.PushRequest, in the JSON
// that its push API takes (Connect protocol).
type label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type rawSample struct {
	RawProfile []byte `json:"rawProfile"` // pprof; base64 in JSON
}

type series struct {
	Labels  []label     `json:"labels"`
	Samples []rawSample `json:"samples"`
}

var notLabel = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// Pyroscope is the body of a request to Pyroscope's push.v1.PusherService/Push. The
// profile's name (__name__) is "process_cpu" or "wall" of samples, as Pyroscope's own
// profilers call them, and "rivulet" of a recording, whose counts are exact. Labels are those of [OTLP]'s
// resource, with _ for what a label's name can't have. The error is of a report that pprof can't hold.
func Pyroscope(r *export.Report, o Origin) ([]byte, error) {
	p, err := profileOf(r, o)
	if err != nil {
		return nil, err
	}
	var pprof bytes.Buffer
	if err := p.Write(&pprof); err != nil {
		return nil, fmt.Errorf("pprof: %w", err)
	}
	name := "rivulet"
	if s := r.Sampling; s != nil {
		name = s.Mode
		if s.Mode == export.CPUMode {
			name = "process_cpu"
		}
	}
	labels := map[string]string{"__name__": name}
	for _, a := range resourceOf(r, o).Attributes {
		value := a.Value.GetStringValue()
		if value == "" {
			value = fmt.Sprint(a.Value.GetIntValue())
		}
		labels[notLabel.ReplaceAllString(a.Key, "_")] = value
	}
	one := series{Samples: []rawSample{{RawProfile: pprof.Bytes()}}}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		one.Labels = append(one.Labels, label{key, labels[key]})
	}
	return json.Marshal(map[string][]series{"series": {one}})
}
