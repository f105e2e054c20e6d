package prompt

// Compile has the instructions for a model that writes one program for all questions of a task. [Code] with Compiled
// set is its briefing.
var Compile = unfolded(`
Write one JavaScript program that does the task for all questions. It is saved and runs every day with other inputs,
  without a model.

- Everything that differs between questions comes from the constants and the tools. The runs show what works: which
  tools to call, what their results look like, which cases occur. Generalize. Never copy an answer or a piece of data
  from a run: a program that contains expected answers is refused.
- Compute with code whatever code can compute. Call llm only for what needs judgement, such as understanding prose.
- Handle inputs that are not shown: empty lists, missing values, further pages, other spellings.
- If something is not as the program expects, throw an Error that says what. Then the agent takes over. Never guess.
- End with submit(answer).
`)

// NotGeneral is the only feedback about questions that the model does not see.
const NotGeneral = "It answers all questions that are shown, but is wrong about others. It may rest on what the " +
	"shown questions have in common by chance. Write a more general program."
