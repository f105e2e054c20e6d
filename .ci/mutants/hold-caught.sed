# tools/journal/attempt.go A program can catch a hold.
/^func (a \*Attempt) decide/,/^}/s/^\tif err := j.commit(op); err != nil {$/\tif op.Hold != nil {\n\t\tte := \&tools.ToolError{Kind: tools.KindDenied, Message: op.Hold.Message}\n\t\treturn replayed{\&entry{attempt: a}, \&operation{State: StateRejected, Error: te}, \&entry{}}, nil\n\t}\n&/
