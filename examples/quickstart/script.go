package main

// script has the scripted model's replies. The first program misspells a tool and an argument, as models sometimes do,
// and the check rejects it.
var script = []string{`I need the German customers, their orders of 2025 and the refunds of those orders. ` +
	`Orders and refunds come in pages, so I collect all pages, and ask for all customers at once.

` + "```js" + `
const { customers } = await shop.list_customers({ country: "Germany" });
const orders = (await Promise.all(customers.map(c => shop.list_order({ customer_id: c.id, year }))))` +
	`.flatMap(p => p.orders);
const { refunds } = await shop.list_refunds({ curser: "0" });
orders.length + refunds.length
` + "```" + ``,

	`The tool is list_orders and the argument cursor. This time I also follow the cursors.

` + "```js" + `
async function all(list, key, args) {
  const rows = [];
  let cursor;
  do {
    const page = await list({ ...args, cursor });
    rows.push(...page[key]);
    cursor = page.next_cursor;
  } while (cursor);
  return rows;
}

const { customers } = await shop.list_customers({ country: "Germany" });
const [refunds, ...orders] = await Promise.all([
  all(shop.list_refunds, "refunds", {}),
  ...customers.map(c => all(shop.list_orders, "orders", { customer_id: c.id, year })),
]);

const refunded = new Map();
for (const r of refunds) refunded.set(r.order_id, (refunded.get(r.order_id) ?? 0) + r.amount_cents);

const rows = customers.map((c, i) => ({
  name: c.name,
  spent: orders[i].reduce((sum, o) => sum + o.total_cents, 0) / 100,
  refunded: orders[i].reduce((sum, o) => sum + (refunded.get(o.id) ?? 0), 0) / 100,
}));
const found = rows
  .filter(r => r.refunded > 0.2 * r.spent)
  .sort((a, b) => b.refunded - a.refunded);
console.log(rows.length, "customers looked at,", found.length, "found");
submit({ customers: found, total_refunded: found.reduce((sum, r) => sum + r.refunded, 0) });
` + "```" + ``}
