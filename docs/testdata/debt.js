// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the
// schemas of its tools are what these lines say. Delete them to make it a new program.
// @signature customer: int -> open: int, reminded: bool
// @instructions Add up the customer's open invoices. If the sum is more than 105, remind the customer.
// @tool bc511839 invoices(args: {customer: number /* integer */}): number[]
// @tool 3099c85a remind(args: {customer: number /* integer */; amount: number /* integer */}): boolean
// @from optimize.Compile: 40 training, 20 validation, 20 test examples: score 1 (20 of 20 right; up to 14 % of all answers may be wrong); CodeAct: score 1
// @seen .customer is positive
// @seen .customer is zero
// @seen answer.open is positive
// @seen answer.reminded is false
// @seen answer.reminded is true
// @seen calls invoices
// @seen calls remind
// @example {"inputs":{"customer":3},"outputs":{"open":103,"reminded":false}}
// @example {"inputs":{"customer":6},"outputs":{"open":106,"reminded":true}}
// @example {"inputs":{"customer":18},"outputs":{"open":118,"reminded":true}}
// @example {"inputs":{"customer":22},"outputs":{"open":122,"reminded":true}}
// @example {"inputs":{"customer":23},"outputs":{"open":123,"reminded":true}}
// @example {"inputs":{"customer":24},"outputs":{"open":124,"reminded":true}}
// @example {"inputs":{"customer":26},"outputs":{"open":126,"reminded":true}}
// @example {"inputs":{"customer":31},"outputs":{"open":131,"reminded":true}}
// @example {"inputs":{"customer":37},"outputs":{"open":137,"reminded":true}}
// @example {"inputs":{"customer":38},"outputs":{"open":138,"reminded":true}}

const amounts = await invoices({customer});
const open = amounts.reduce((sum, amount) => sum + amount, 0);
const reminded = open > 105 && await remind({customer, amount: open});
submit({open, reminded});
