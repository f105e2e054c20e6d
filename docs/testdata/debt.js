// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the
// schemas of its tools are what these lines say. Delete them to make it a new program.
// @signature customer: int -> open: int, reminded: bool
// @instructions Add up the customer's open invoices. If the sum is more than 105, remind the customer.
// @tool bc511839 invoices(args: {customer: number /* integer */}): number[]
// @tool 3099c85a remind(args: {customer: number /* integer */; amount: number /* integer */}): boolean
// @from optimize.Compile: 20 training examples, 20 held-out examples: score 1; CodeAct: score 1
// @example {"inputs":{"customer":1},"outputs":{"open":101,"reminded":false}}
// @example {"inputs":{"customer":3},"outputs":{"open":103,"reminded":false}}
// @example {"inputs":{"customer":4},"outputs":{"open":104,"reminded":false}}
// @example {"inputs":{"customer":5},"outputs":{"open":105,"reminded":false}}
// @example {"inputs":{"customer":6},"outputs":{"open":106,"reminded":true}}
// @example {"inputs":{"customer":7},"outputs":{"open":107,"reminded":true}}
// @example {"inputs":{"customer":8},"outputs":{"open":108,"reminded":true}}
// @example {"inputs":{"customer":11},"outputs":{"open":111,"reminded":true}}
// @example {"inputs":{"customer":13},"outputs":{"open":113,"reminded":true}}
// @example {"inputs":{"customer":16},"outputs":{"open":116,"reminded":true}}

const amounts = await invoices({customer});
const open = amounts.reduce((sum, amount) => sum + amount, 0);
const reminded = open > 105 && await remind({customer, amount: open});
submit({open, reminded});
