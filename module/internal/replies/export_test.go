package replies

import "github.com/writ-go/writ/signature"

// What the tests know of the readers.
var (
	ErrRethought = errRethought
	ThinkEnd     = thinkEnd
	IsInvisible  = isInvisible
	Within       = within
	EqualValues  = equalValues
	Encode       = encode
	Dedent       = dedent
	Lasting      = lasting
)

// ReadBoth reads a reply as Read does if it is exactly what was asked for, and as
// it does if it is not.
func ReadBoth(spec *signature.Spec, said string) (exact, other signature.Values, err error) {
	r := reply{spec: spec, outputs: spec.Outputs(), text: said}
	other, err = r.read(Markers)
	return readExact(r), other, err
}
