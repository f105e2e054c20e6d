// A program of the kind that models write: parse, join, group, sort, format.
const csv = `id,customer,date,cents,status
1,anna,2025-01-14,1250,paid
2,bert,2025-01-20,8900,paid
3,anna,2025-02-02,400,refunded
4,cleo,2025-02-11,15600,paid
5,bert,2025-02-28,2100,open
6,dora,2025-03-03,9999,paid
7,anna,2025-03-09,7350,paid
8,cleo,2025-03-30,120,refunded
9,dora,2025-04-01,4200,open
10,bert,2025-04-17,3050,paid`;

const people = { anna: { name: "Anna Berg", tier: "gold" }, bert: { name: "Bert Öz" }, cleo: { name: "Cleo Dumas", tier: "silver" } };

function parse(text) {
  const [head, ...lines] = text.split("\n");
  const keys = head.split(",");
  return lines.map(line => {
    const cells = line.split(",");
    return Object.fromEntries(keys.map((key, i) => [key, /^\d+$/.test(cells[i]) ? Number(cells[i]) : cells[i]]));
  });
}

function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const k = key(row);
    if (!groups.has(k)) groups.set(k, []);
    groups.get(k).push(row);
  }
  return groups;
}

const euros = cents => (cents / 100).toFixed(2);
const rows = parse(csv);
const settled = rows.filter(r => r.status !== "open");
const byCustomer = [...groupBy(settled, r => r.customer)].map(([id, list]) => {
  const paid = list.filter(r => r.status === "paid").reduce((sum, r) => sum + r.cents, 0);
  const refunded = list.filter(r => r.status === "refunded").reduce((sum, r) => sum + r.cents, 0);
  return {
    name: people[id]?.name ?? id,
    tier: people[id]?.tier ?? "none",
    orders: list.length,
    net: euros(paid - refunded),
    share: Math.round((100 * refunded) / Math.max(1, paid + refunded)),
  };
});
byCustomer.sort((a, b) => b.net - a.net);

const months = [...groupBy(rows, r => r.date.slice(0, 7))]
  .map(([month, list]) => ({ month, total: euros(list.reduce((sum, r) => sum + r.cents, 0)) }))
  .sort((a, b) => (a.month < b.month ? -1 : 1));

const lines = byCustomer.map(c => `${c.name.padEnd(12)} ${c.tier.padEnd(6)} ${String(c.orders).padStart(2)} ${c.net.padStart(9)} ${c.share}%`);
for (const { month, total } of months) lines.push(`${month}: ${total}`);

const open = rows.filter(r => r.status === "open").map(({ id, customer }) => ({ id, customer }));
const summary = { best: byCustomer[0].name, months: months.length, open, text: lines.join("\n") };
JSON.parse(JSON.stringify(summary)).text.length + summary.months
