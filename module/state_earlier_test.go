package module_test

import (
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

type timed struct {
	Wait  time.Duration            `json:"wait"`
	Least *time.Duration           `json:"least"`
	Told  time.Duration            `json:"told" jsonschema:"description=When to stop."`
	Level []int8                   `json:"level"`
	By    map[string]time.Duration `json:"by"`
}

// planner asks for all kinds of which schemas say more than they did when
// testdata/state/earlier_kinds.json was saved.
func planner[Small any](t *testing.T) *module.Predict[plannerIn, plannerOut[Small]] {
	t.Helper()
	return module.NewPredict(signature.Must(signature.New[plannerIn, plannerOut[Small]]("Plan.")), llmtest.New(), nil)
}

type plannerIn struct {
	For    time.Duration `json:"pause_for"`
	Colour [3]uint8      `json:"colour"`
}

type plannerOut[Small any] struct {
	Pause   time.Duration  `json:"pause" jsonschema:"description=How long."`
	Perhaps *time.Duration `json:"perhaps"`
	Red     uint8          `json:"red" jsonschema:"maximum=255"`
	Small   Small          `json:"small"`
	Ratio   float32        `json:"ratio" jsonschema:"minimum=0"`
	Half    *float32       `json:"half"`
	All     []timed        `json:"all"`
}

// What was learned is not lost because schemas say more than they did.
func TestLoadEarlierKinds(t *testing.T) {
	t.Parallel()
	earlier := golden(t, "earlier_kinds.json")
	m := planner[int8](t)
	if err := module.Load(strings.NewReader(earlier), m); err != nil {
		t.Fatal(err)
	}
	again := save(t, m)
	if again == earlier || strings.Contains(again, "Nanoseconds;") || !strings.Contains(again, `"small": -7`) {
		t.Errorf("after it was loaded, saved was\n%s", again)
	}
	if err := module.Load(strings.NewReader(again), planner[int8](t)); err != nil {
		t.Error(err)
	}
	const want = "module: load Predictor: it was saved with another signature: the output small has another type, or other constraints"
	if err := module.Load(strings.NewReader(earlier), planner[uint8](t)); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// A member may be called as a keyword is.
func TestSaveMembersNamedAsKeywords(t *testing.T) {
	t.Parallel()
	type plan struct {
		AnyOf  time.Duration  `json:"anyOf"`
		Format *time.Duration `json:"format"`
		Most   int8           `json:"maximum"`
	}
	m := func() any {
		return module.NewPredict(signature.Must(signature.New[struct{}, struct {
			Plan plan `json:"plan"`
		}]("")), llmtest.New(), nil)
	}
	if err := module.Load(strings.NewReader(save(t, m())), m()); err != nil {
		t.Error(err)
	}
}
