// Package replies finds values in what a model said. It knows the fields that were
// asked for, and neither the model nor who asked.
//
// The rule is that a wrong answer is worse than none. What can be read in two ways, was
// cut off, taken back or not filled in is an [*Error], worded for the model, which costs
// one more question. Nothing is guessed, and no words are dropped that might change the
// value. What is read was written so; what may be left out beside it is a courtesy, or
// gives a reason and has no doubt in it.
//
// A reply passes, as [Read] (read.go) has it:
//
//  1. What is not meant to be read goes: tokens of the model's template (tokens.go) and
//     thoughts (thoughts.go). Was it cut off before the answer was whole (form.go)?
//  2. The readers take turns, from the form that says most clearly where a value begins
//     and ends to the one that says least: markers (marks.go, members.go, endmark.go, slip.go), tags
//     (tags.go), one JSON object (object.go), a table (table.go), lines with labels
//     (labels.go), and a reply that is nothing but the value (alone.go, presented.go,
//     sentence.go). Each returns what stands for each field, or nothing if the reply is not
//     in its form. Of several answers the last counts, if it is said so (drafts.go).
//  3. Each value is read by its schema (value.go, shape.go): text (text.go, fence.go), JSON
//     as models write it (lax.go, quotes.go, slashes.go, comments.go, boxed.go) and its
//     other notations (tree.go, elements.go, outline.go, list.go, oneitem.go), words and
//     numbers as they are spelled (spelling.go, number.go, sums.go), with their units
//     (units.go, measures.go, namedunits.go), how long something lasts (lasting.go), days
//     (months.go), names (names.go) and anything (anything.go). Placeholders are none
//     (hollow.go), unless they are said to be meant (insist.go), nor is a program of which
//     a part is left out (omissions.go); what is said to be absent is (absent.go).
//  4. What stands around the values must leave them as they are: a reason for one
//     (explained.go, parts.go, concluded.go), in parentheses (asides.go, doubt.go), before
//     and behind the answer (remarks.go, guilt.go, settled.go, references.go), as more fields than
//     were asked for (extras.go). The lists of words are in words.go.
//
// [ReadProgram] (program.go) reads the replies of models that write code, more strictly:
// the program has to be whole, and the one that was meant. [Arguments] (arguments.go)
// reads what models give to tools, which are about to act on it. What the form that is asked
// for looks like, for those who write it, is in marker.go.
package replies
