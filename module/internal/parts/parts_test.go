package parts

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
)

type leaf struct {
	name string
	in   inside
}

type inside struct{ In map[string]any }

func (l *leaf) inside() *inside { return &l.in }

type tree struct {
	Leaf  *leaf
	Left  *leaf
	Right *leaf
	List  []any
	Named map[string]tree
	Self  *tree
	Data  map[string]string
}

func paths(m any) string {
	var list []string
	for path := range All(m, (*leaf).inside) {
		list = append(list, path)
	}
	return strings.Join(list, " ")
}

func TestAll(t *testing.T) {
	t.Parallel()
	shared := &leaf{name: "shared"}
	m := &tree{Left: shared, List: []any{1, &leaf{}, shared},
		Named: map[string]tree{"a b": {Left: &leaf{}}, `"`: {Left: &leaf{}}}}
	m.Self = m
	second := &leaf{}
	second.in.In = map[string]any{"shared": shared, "self": m, "third": &tree{Right: &leaf{}}}
	shared.in.In = map[string]any{"second": &second}
	if got, want := paths(m), `Left List[1] Named["\""].Left Named[a b].Left Left.In[second] `+
		`Left.In[second].In[third].Right`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	shared := &leaf{name: "shared"}
	m := &tree{Left: shared, List: []any{shared}, Data: map[string]string{}}
	m.Self = m
	shared.in.In = map[string]any{"self": m, "data": m.Data}
	copied, err := Clone(m, func(l *leaf) *leaf { return &leaf{l.name + "'", l.in} }, (*leaf).inside, nil)
	switch {
	case err != nil:
		t.Fatal(err)
	case copied == m || copied.Self != copied || copied.Left == shared || copied.List[0] != copied.Left:
		t.Error("the copy has another form")
	case shared.in.In["self"] != any(m) || copied.Left.in.In["self"] != any(copied):
		t.Error("what is inside was not copied, or the original was changed")
	case copied.Left.name != "shared'" || m.Left != shared || m.List[0] != shared:
		t.Error("the original was changed, or the copy was not")
	}
	copied.Data["shared"] = "yes"
	if m.Data["shared"] == "" {
		t.Error("data was copied")
	}
	refuse := func(reflect.Type) error { return errors.New("no") }
	if _, err := Clone(m, func(l *leaf) *leaf { return l }, (*leaf).inside, refuse); err == nil {
		t.Error("the error of check was lost")
	}
}

func TestLockIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   any
		want string
	}{
		{struct{ A [2]struct{ B sync.Mutex } }{}, "sync.Mutex"},
		{struct{ A *sync.Mutex }{}, ""},
		{struct{ A sync.Locker }{}, ""},
	} {
		got := ""
		if lock := LockIn(reflect.TypeOf(c.of)); lock != nil {
			got = lock.String()
		}
		if got != c.want {
			t.Errorf("%T: got %q, want %q", c.of, got, c.want)
		}
	}
}
