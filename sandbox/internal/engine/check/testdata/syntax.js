
var a = 1, {b, c: [d = 2, ...e], ["f" + 1]: g, ...h} = o; let i; const j = {k, l: m, [n]: p, q() { r }, get s() { return t }, set s(u) { v }, async w() { await x }, *y() { yield z }, ...aa};
function ab(ac, {ad = ae}, ...[af]) { return this.ag } async function ah() { await ai } function* aj() { yield* ak; yield }
class al extends am { #an = ao; static ap = aq; [ar]; static { as } constructor() { super(at); super.au(av) } get aw() { return this.#an } static async *ax() {} #ay() { return #an in az } }
if (ba) { bb } else if (bc) bd; else be
for (let bf = bg; bf < bh; bf++) bi; for (bj = 0; ; ) break; for (var bk = 0; ; ) { continue } for (;;) break
for (const [bl] of bm) bn; for (var bo in bp) bq; for (br.bs of bt) bu; for (bv of bw) ; for (let bx in by) ;
while (bz) ca; do { cb } while (cc); label: { break label }
switch (cd) { case ce: cf; case cg: { ch } default: ci }
try { throw cj } catch ({ck}) { cl } finally { cm } try { cn } catch { co } try { cp } finally { cq }
cr ? cs : ct; (cu, cv); cw[cx]; cy.cz; da?.db?.[dc]?.(dd); new de(df, ...dg); dh(di, ...dj); typeof dk; -dl; dm++; delete dn.dp; void dq
dr = ds; dt += du; dv ??= dw; dx && dy || (dz ?? ea); [eb, {ec}] = ed; ({ee: ef.eg, ...eh} = ei)
ej => ek; async (el = em) => { await en }; (function eo() { ep }); (class eq { er = es }); `x${et}y${eu}`; ev`z${ew}`;
/ex/g; "ey"; 1; true; null; 5n; [ez, , ...fa]; ({}).fb; debugger; ;
(function () { new.target; with_ }); import_; !fc; fd instanceof fe; ff in fg; fh ** fi
