interface Order {
  id: number;
  customer: string;
  items: Item[];
  placed: string;
  status: Status;
}

interface Item {
  sku: string;
  price: number;
  quantity: number;
}

enum Status { Open = "open", Shipped = "shipped", Broken = "broken" }

type Totals = Record<string, { orders: number; sum: number }>;

const catalogue: readonly string[] = ["apple", "pear", "plum", "fig", "lime"];

function makeOrders(count: number): Order[] {
  const orders: Order[] = [];
  for (let i = 0; i < count; i++) {
    const items = catalogue.slice(0, (i % catalogue.length) + 1).map(
      (sku, n): Item => ({ sku, price: 1 + ((i * 7 + n) % 13), quantity: 1 + (n % 3) }));
    orders.push({
      id: i, customer: `customer-${i % 7}`, items,
      placed: `2026-0${1 + (i % 9)}-1${i % 10}`, status: i % 3 === 0 ? Status.Shipped : i % 5 === 0 ? Status.Broken : Status.Open,
    });
  }
  return orders;
}

class Ledger<K extends string> {
  readonly #totals: Partial<Record<K, number>> = {};
  constructor(private readonly currency: string) {}
  add(key: K, amount: number): this {
    this.#totals[key] = (this.#totals[key] ?? 0) + amount;
    return this;
  }
  entries(): [K, string][] {
    return (Object.entries(this.#totals) as [K, number][]).map(([k, v]) => [k, `${v.toFixed(2)} ${this.currency}`]);
  }
}

const sumOf = (order: Order): number => order.items.reduce((sum, item) => sum + item.price * item.quantity, 0);

async function* open(orders: Order[]): AsyncGenerator<Order> {
  for (const order of orders) {
    if (order.status !== Status.Shipped) yield order;
  }
}

const ledger = new Ledger<string>("EUR");
const totals: Totals = {};
for await (const order of open(makeOrders(20))) {
  ledger.add(order.customer, sumOf(order));
  const total = (totals[order.customer] ??= { orders: 0, sum: 0 });
  total.orders++;
  total.sum += sumOf(order);
}
({ ledger: ledger.entries(), totals } satisfies { ledger: [string, string][]; totals: Totals });
