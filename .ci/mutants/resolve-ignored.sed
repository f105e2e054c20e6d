# tools/journal/apply.go What a person has found out about a call is ignored.
s/^\tcase opReconcile, opResolve:$/\tcase opResolve:\n\tcase opReconcile:/
