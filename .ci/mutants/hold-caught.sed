# sandbox/calls.go A program can catch a hold.
/^func toolError(/,/^}/s/hold.Error()}).WithCause(err), false/hold.Error()}).WithCause(err), true/
