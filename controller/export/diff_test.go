package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestDiffJSON wants every figure of a difference in its JSON.
func TestDiffJSON(t *testing.T) {
	root := export.DiffLine{Method: cct.Method{Name: "p.C.root()V", Loader: "app"}, Calls: [2]int64{1, 2}, Self: [2]int64{3, 4}, Total: [2]int64{5, 6}, SelfBound: 2, TotalBound: 3}
	below := export.DiffLine{Method: cct.Method{Name: "p.C.task()V"}, Depth: 1, Calls: [2]int64{7, 8}, Self: [2]int64{9, 10}, Total: [2]int64{11, 12}, Closed: true, Async: true}
	d := export.Diff{
		Names: [2]string{"a.json", "b.json"}, Each: true, Invocations: [2]int64{13, 14}, Total: [2]int64{15, 16},
		Tree: []export.DiffLine{root, below}, Small: 17, Verdict: "So it is.", Differ: 19, Within: 20, Unlike: []export.Unlike{{Kind: "java", Text: "Other."}}, Methods: []export.DiffLine{root}, More: 18,
	}
	var b strings.Builder
	if err := d.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	const text = `{"schema":1,"kind":"difference","before":{"file":"a.json","root_invocations":13,"total_ns":15},
		"after":{"file":"b.json","root_invocations":14,"total_ns":16},"scaled":true,
		"unlike":[{"kind":"java","text":"Other.","grave":false}],"verdict":"So it is.","methods_beyond_noise":19,"methods_within_noise":20,
		"tree":[{"depth":0,"method":"p.C.root()V","loader":"app","calls":[1,2],"self_ns":[3,4],"total_ns":[5,6],"self_noise_ns":2,"total_noise_ns":3},
			{"depth":1,"method":"p.C.task()V","calls":[7,8],"self_noise_ns":0,"self_ns":[9,10],"total_ns":[11,12],"closed":true,"async":true}],
		"hardly_differ":17,"methods":[{"method":"p.C.root()V","loader":"app","calls":[1,2],"self_ns":[3,4],"total_ns":[5,6],"self_noise_ns":2,"total_noise_ns":3}],"more_methods":18}`
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
}
