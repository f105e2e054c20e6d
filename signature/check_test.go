package signature_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

type (
	span struct {
		From int `json:"from"`
		To   int `json:"to"`
	}
	line struct {
		Price price `json:"price"`
	}
	price  int
	Common struct {
		ID string `json:"id"`
	}
	checked struct {
		Common
		Spans []span           `json:"spans"`
		Lines map[string]*line `json:"lines"`
		Best  *span            `json:"best"`
		Two   [2]price         `json:"two"`
		Skip  span             `json:"-"`
		Other price
	}
)

var errOrder = errors.New("the end is before the start")

func (s span) Validate() error {
	if s.To < s.From {
		return errOrder
	}
	return nil
}

func (p *price) Validate() error {
	if *p < 0 {
		return fmt.Errorf("%d is negative", *p)
	}
	return nil
}

func (c Common) Validate() error {
	if c.ID == "" {
		return errors.New("the ID is empty")
	}
	return nil
}

func TestCheck(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[struct{}, checked]("Check."))
	wrong := span{From: 2, To: 1}
	for name, c := range map[string]struct {
		out  checked
		want string
	}{
		"valid":                     {out: checked{Common: Common{"a"}, Skip: wrong}},
		"the promoted method, once": {want: "the ID is empty"},
		"in its places": {
			out: checked{
				Common: Common{"a"}, Spans: []span{{}, {}, wrong}, Best: &wrong, Two: [2]price{0, -1}, Other: -2,
				Lines: map[string]*line{"b c": {-3}, "a": {-4}, "nil": nil},
			},
			want: "spans[2]: the end is before the start\nlines.a.price: -4 is negative\n" +
				"lines[\"b c\"].price: -3 is negative\nbest: the end is before the start\ntwo[1]: -1 is negative\n" +
				"Other: -2 is negative",
		},
		"many": {
			out: checked{Common: Common{"a"}, Spans: func() (all []span) {
				for range 30 {
					all = append(all, wrong)
				}
				return all
			}()},
			want: "spans[18]: the end is before the start\nspans[19]: the end is before the start",
		},
	} {
		err := sig.Check(t.Context(), c.out)
		if got := fmt.Sprint(errors.Join(err)); !strings.HasSuffix(got, c.want) || (err != nil) != (c.want != "") {
			t.Errorf("%s: got %s", name, got)
		}
		if strings.Contains(c.want, "before") && !errors.Is(err, errOrder) {
			t.Errorf("%s: %v does not wrap the error of Validate", name, err)
		}
	}
}

// ring can be cyclic. Its schema is not, since ringBox decodes itself.
type ring struct {
	Next *ring   `json:"next"`
	All  []*ring `json:"all"`
	Size price   `json:"size"`
}

func TestCheckOfCycles(t *testing.T) {
	t.Parallel()
	r := &ring{Size: -1}
	r.Next, r.All = r, []*ring{r}
	rings := signature.Must(signature.New[struct{}, ringHolder]("Check."))
	if err := rings.Check(t.Context(), ringHolder{ringBox{r}}); fmt.Sprint(err) != "box.Ring.size: -1 is negative" {
		t.Error(err)
	}
}

type (
	ringHolder struct {
		Box ringBox `json:"box"`
	}
	ringBox struct{ Ring *ring }
)

func (ringBox) UnmarshalJSON([]byte) error { return nil }

func TestWithCheck(t *testing.T) {
	t.Parallel()
	plain := signature.Must(signature.New[struct{}, span]("Check."))
	type key struct{}
	var calls int
	check := func(text string) func(context.Context, span) error {
		return func(ctx context.Context, out span) error {
			calls++
			if ctx.Value(key{}) == nil || out.To > 10 {
				return errors.New(text)
			}
			return nil
		}
	}
	first := plain.WithCheck(check("first")).WithInstructions("Again.")
	both, other := first.WithCheck(check("second")), first.WithCheck(check("other"))
	ctx := context.WithValue(t.Context(), key{}, 1)
	for name, c := range map[string]struct {
		sig  *signature.Signature[struct{}, span]
		ctx  context.Context
		out  span
		want string
	}{
		"without":               {plain, ctx, span{To: 11}, "<nil>"},
		"accepted":              {both, ctx, span{To: 1}, "<nil>"},
		"one":                   {first, ctx, span{To: 11}, "first"},
		"both":                  {both, ctx, span{To: 11}, "first\nsecond"},
		"another copy":          {other, ctx, span{To: 11}, "first\nother"},
		"the caller's context":  {first, t.Context(), span{To: 1}, "first"},
		"not after Validate":    {both, ctx, span{From: 1}, "the end is before the start"},
		"nil":                   {plain.WithCheck(nil), ctx, span{}, "<nil>"},
		"of a nil signature":    {nil, ctx, span{}, "signature: nil or zero signature; make one with New, Parse or NewSpec"},
		"of no signature, with": {(*signature.Signature[struct{}, span])(nil).WithCheck(check("")), ctx, span{}, "signature: nil or zero signature; make one with New, Parse or NewSpec"},
	} {
		if got := fmt.Sprint(c.sig.Check(c.ctx, c.out)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if want, got := plain.Spec().OutputTypeScript(), both.Spec().OutputTypeScript(); got != want || calls == 0 {
		t.Errorf("got the type %s, want %s", got, want)
	}
	if got := plain.Spec().OutputTypeScript(); got != "{from: number /* integer */; to: number /* integer */}" {
		t.Errorf("a Validate changed the type to %s", got)
	}
}
