package replies

// What the tests know of the readers.
var (
	ErrRethought = errRethought
	ThinkEnd     = thinkEnd
	IsInvisible  = isInvisible
	Within       = within
	HollowIn     = hollowIn
	EqualValues  = equalValues
	Encode       = encode
)
