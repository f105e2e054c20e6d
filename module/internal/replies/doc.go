// Package replies reads the replies of models and writes the forms that they are asked for. It knows
// the fields that were asked for; it knows neither the model nor the question.
//
// It looks at structure and never judges prose. Its promise: a reply that is cut off, structurally
// ambiguous or invalid against the schema is never accepted, and a valid reply in the form that was
// asked for is never refused, except for a copy of the placeholder that the prompt prints. What
// cannot be read is an [*Error] that lists all problems, worded for the model.
//
// A reply passes through these steps:
//
//  1. Tokens of the model's template and thinking blocks are removed (template.go).
//  2. The fields are found (read.go): under markers (marker.go), in a JSON object (object.go), in
//     labeled sections (section.go), or the whole reply is the only output.
//  3. Each value is read by its schema (value.go, shape.go): text, JSON as models write it (json.go),
//     numbers, booleans and constants that are spelled as text (scalar.go). A code fence around a
//     value is not part of it (fence.go).
//
// [ReadProgram] (program.go) reads the replies of models that write code, [Arguments] (argument.go)
// what models pass to tools, and [Answer] (answer.go) what programs submit. What is written for models
// is in write.go.
package replies
