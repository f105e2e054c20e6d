// Package replies reads model replies, and writes the parts of prompts that show the reply format. It depends only on
// the requested fields, not on the model or the question.
//
// It reads structure and never interprets prose. It never accepts a reply that is truncated, structurally ambiguous or
// invalid against the schema. It never rejects a valid reply in the requested format, unless the reply copies a
// placeholder of the prompt. If a reply cannot be read, the [*Error] lists all problems in words for the model.
//
// A reply is read in these steps:
//
//  1. Tokens of the model's template and thinking blocks are removed (template.go).
//  2. The fields are found (read.go): under markers (marker.go), in a JSON object (object.go), in
//     labeled sections (section.go), or the whole reply is the only output.
//  3. Each value is decoded according to its schema (value.go, shape.go): text, lenient JSON (json.go), and numbers,
//     booleans and constants that are written as text (scalar.go). A code fence around a value is removed (fence.go).
//
// [ReadProgram] (program.go) reads replies from models that write code, [Arguments] (action.go) reads tool call
// arguments, and [Answer] (answer.go) reads submitted answers. write.go writes markers, placeholders and values for
// prompts.
package replies
