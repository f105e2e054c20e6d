// Package replies finds values in what a model said. It knows the fields that were
// asked for, and neither the model nor who asked.
//
// The rule is that a wrong answer is worse than none. What can be read in two ways, was
// cut off, taken back or not filled in is an [*Error], worded for the model, which costs
// one more question. Nothing is guessed, and no words are dropped that might change the
// value. What is read was written so; what may be left out beside it is in lists, of
// courtesies, explanations and reasons.
//
// A reply passes, as [Read] (read.go) has it:
//
//  1. What is not meant to be read goes: tokens of the model's template (tokens.go) and
//     thoughts (thoughts.go). Was it cut off before the answer was whole (form.go)?
//  2. The readers take turns, from the form that says most clearly where a value begins
//     and ends to the one that says least: markers (marks.go, endmark.go), tags (tags.go),
//     one JSON object (object.go), a table (table.go), lines with labels (labels.go), and
//     a reply that is nothing but the value (alone.go, presented.go, sentence.go). Each
//     returns what stands for each field, or nothing if the reply is not in its form.
//  3. Each value is read by its schema (value.go, shape.go): text (text.go, fence.go), JSON
//     as models write it (lax.go) and its other notations (tree.go, elements.go, outline.go,
//     list.go), words and numbers as they are spelled (spelling.go, number.go, sums.go).
//     Placeholders are none (hollow.go).
//  4. What stands around the values must leave them as they are: in parentheses (asides.go,
//     doubt.go), behind the answer (remarks.go, settled.go), as more fields than were asked
//     for (extras.go). The lists of words are in words.go.
//
// [ReadProgram] (program.go) reads the replies of models that write code, more strictly:
// the program has to be whole, and the one that was meant. What the form that is asked
// for looks like, for those who write it, is in marker.go.
package replies
