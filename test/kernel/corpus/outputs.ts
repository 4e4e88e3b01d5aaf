import { arrowStreamMime } from '#shared/mime.ts';
import type { Theme } from './corpus.ts';

const table = `${arrowStreamMime}, text/html, text/plain`;
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const outputs: Theme = {
  name: 'What the corpus shows',
  sequences: [
    {
      name: 'is what the console prints, to the right stream',
      steps: [
        { cell: 'console.log("a", 1, { b: [2] })', out: 'a 1 { b: [ 2 ] }\n' },
        { cell: 'console.log("%s is %d, %j %o%%", "x", 5, { y: 1 }, [2])', out: /^x is 5, \{"y":1\} \[ 2,[^]*\]%\n$/ },
        { cell: 'console.error("bad"); console.warn("careful")', err: /^bad\ncareful\n$/ },
        { cell: 'console.info("i"); console.debug("d")', out: 'i\nd\n' },
        { cell: 'process.stdout.write("no line end")', value: 'true', out: 'no line end' },
        {
          cell: 'console.group("group"); console.log("inner"); console.groupEnd(); console.log("outer")',
          out: 'group\n  inner\nouter\n',
        },
        { cell: 'console.table([{ a: 1, b: "x" }])', out: /│ 0 +│ 1 │ 'x' │/ },
        { cell: 'console.count("n"); console.count("n"); console.countReset("n")', out: 'n: 1\nn: 2\n' },
        { cell: 'console.assert(1 > 2, "math")', err: /^Assertion failed: math\n$/ },
        { cell: 'console.time("t"); console.timeEnd("t")', out: /^t: [\d.]+m?s\n$/ },
        { cell: 'console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })', out: '{ a: [Object] }\n' },
        { cell: 'console.log()', out: '\n' },
        { cell: 'console.log("ü€😀\\t\\u0007")', out: 'ü€😀\t\u0007\n' },
        { cell: 'for (const c of "abc") process.stdout.write(c); 1', out: 'abc', value: '1' },
      ],
    },
    {
      name: 'is in the form that a value brings',
      steps: [
        {
          cell: '({ [Symbol.for("Jupyter.display")]() { return { "text/markdown": "# hi", "text/plain": "hi" } } })',
          value: 'hi',
          forms: ['text/markdown, text/plain'],
        },
        {
          cell: 'class Celsius { constructor(readonly degrees: number) {} [Symbol.for("Jupyter.display")]() { return { "text/plain": `${this.degrees} °C`, "text/html": `<b>${this.degrees}</b>` } } }\nnew Celsius(21)',
          value: '21 °C',
          forms: ['text/plain, text/html'],
        },
        {
          cell: '({ [Symbol.for("Jupyter.display")]: async () => ({ "application/json": { later: true } }) })',
          forms: ['application/json'],
        },
        { cell: '({ toHtml: () => "<i>x</i>" })', value: /.*/, forms: ['text/html, text/plain'] },
        { cell: '({ [Symbol.for("nodejs.util.inspect.custom")]: () => "mine" })', value: 'mine' },
        { cell: `Buffer.from("${png}", "base64")`, value: /PNG image, 1 × 1/, forms: ['image/png, text/plain'] },
        {
          cell: `new Blob([Buffer.from("${png}", "base64")], { type: "image/png" })`,
          value: /PNG/,
          forms: ['image/png, text/plain'],
        },
      ],
    },
    {
      name: 'is what display is asked for, in the middle of a cell and again',
      steps: [
        {
          cell: 'display.html("<h1>Hello</h1>"); console.log("after")',
          out: 'after\n',
          forms: ['text/html, text/plain'],
        },
        { cell: 'display.markdown("**bold**")', forms: ['text/markdown, text/plain'] },
        { cell: 'display.latex("e^{i\\\\pi}")', forms: ['text/latex, text/plain'] },
        {
          cell: 'display.svg(`<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>`)',
          forms: ['image/svg+xml, text/plain'],
        },
        { cell: 'display.json({ a: [1, { b: null }] })', forms: ['application/json, text/plain'] },
        { cell: 'display(1); display("two"); 3', value: '3', forms: ['text/plain', 'text/plain', 'text/plain'] },
        {
          cell: 'display("one", { id: "place" }); display("two", { id: "place" })',
          forms: ['text/plain', 'text/plain'],
        },
        {
          cell: 'for (const n of progress([1, 2])) console.log(n)',
          out: '1\n2\n',
          forms: ['text/html, text/plain', 'text/html, text/plain'],
        },
      ],
    },
    {
      name: 'is rows, whose values compute, print, and are added again',
      steps: [
        {
          cell: `import { Decimal, Duration, Time, Timestamp } from 'lance-catalog';
const trips = await db.createTable('trips', [{ id: 1n, price: Decimal.from('18.90'), noon: new Time(43_200n, 's'),
  took: new Duration(1500n, 'ms'), at: new Timestamp(1n, 'us'), vector: new Float32Array(300), big: 2n ** 60n }]);
const [trip] = await trips.query().toArray();
console.log(trip)`,
          out: `The column "big" has integers beyond ±(2^53 − 1), which are bigints in its rows; toArray({ int64: 'bigint' }) returns bigints for all 64-bit integers.
{
  id: 1,
  price: 18.90,
  noon: 12:00:00,
  took: 1.500s,
  at: 1970-01-01T00:00:00.000001Z,
  vector: Float32Array(300) [ 0, 0, 0, 0, … 296 more ],
  big: 1152921504606846976n
}
`,
        },
        { cell: 'trip.price * 2 + trip.vector.length', value: '337.8' },
        {
          cell: 'const { vector, ...facts } = trip; JSON.stringify({ ...facts, big: 0 })',
          value: `'{"id":1,"price":"18.90","noon":"12:00:00","took":"1.500s","at":"1970-01-01T00:00:00.000001Z","big":0}'`,
        },
        { cell: 'JSON.stringify([trip]).length > 600', value: 'true' },
        {
          cell: 'await trips.add([trip]); new Set((await trips.query().toArray()).map((row) => JSON.stringify(row))).size',
          value: '1',
          out: /^The column "big" has integers beyond/,
        },
        { cell: '(await trips.query().select(["id"]).toArray({ int64: "bigint" }))[0].id', value: '1n' },
        { cell: 'await db.dropTable("trips"); `${new Decimal(5n, 1)}`', value: "'0.5'" },
      ],
    },
    {
      name: 'is a table, of Arrow, of a query and of SQL',
      steps: [
        { cell: 'arrow.tableFromArrays({ n: [1, 2], s: ["a", "b"] })', value: /2 rows × 2 columns$/, forms: [table] },
        {
          cell: 'const products = await db.openTable("products", { namespacePath: ["shop"] }); await products.countRows()',
          value: '500',
        },
        { cell: 'products.query().select(["id"]).limit(2)', value: 'id\n1\n2\n\n2 rows × 1 column', forms: [table] },
        { cell: 'for await (const batch of products.query().limit(3)) console.log(batch.numRows)', out: '3\n' },
        {
          cell: 'await products.query().where("id <= 2").select(["id"]).toArray()',
          value: '[ { id: 1 }, { id: 2 } ]',
        },
        { cell: 'const rows = await products.query().limit(4).toArrow(); rows.numRows', value: '4' },
        {
          cell: 'products.query().where("nope > 1")',
          error: /^CatalogError: Table "shop\/products" has no column "nope"\. It has: id,/,
        },
        { cell: 'products.query().where("price > ")', error: /^CatalogError: .*can't be parsed/ },
        { cell: 'await db.openTable("gone")', error: /^CatalogError: .*gone/ },
        {
          cell: 'db.openTabel("x")',
          error: /Property 'openTabel' does not exist on type '[^']*Catalog[^']*'\. Did you mean 'openTable'\?/,
        },
        {
          cell: 'products.query().limit("2")',
          error: /Argument of type 'string' is not assignable to parameter of type 'number'/,
        },
        {
          cell: 'await sql`select count(*) as n from shop.products where id <= ${10}`',
          value: 'n\n10\n\n1 row × 1 column',
          forms: [table],
        },
        {
          cell: '(await sql`select max(id) as id from shop.products`.toArray())[0].id + 1',
          value: '501',
        },
        { cell: 'await sql`select * from shop.nothing`', error: /^CatalogError: .*nothing/ },
        { cell: 'db', value: /^Catalog\nkind +dir\n/, forms: ['text/html, text/plain'] },
        { cell: 'await products.schema()', value: /Schema of 9 columns$/, forms: ['text/html, text/plain'] },
      ],
    },
    {
      name: 'is what first notebooks of others try',
      steps: [
        {
          cell: 'const greet = (who: string) => `Hello, ${who}!`; console.log(greet("notebook"))',
          out: 'Hello, notebook!\n',
        },
        { cell: 'greet(3)', error: /Argument of type 'number'/ },
        {
          cell: 'const fibonacci = (n: number): number => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)); fibonacci(20)',
          value: '6765',
        },
        {
          cell: 'import { createServer } from "node:http"; const server = createServer((_, response) => response.end("served")); await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready)); const { port } = server.address() as { port: number }',
        },
        {
          cell: 'const response = await fetch(`http://127.0.0.1:${port}/`); [response.status, await response.text()]',
          value: "[ 200, 'served' ]",
        },
        { cell: 'server.close(); server.closeAllConnections(); server.listening', value: 'false' },
        {
          cell: 'const people = [{ name: "Ada", born: 1815 }, { name: "Alan", born: 1912 }]; console.table(people, ["name"])',
          out: /'Ada'/,
        },
        {
          cell: 'Object.fromEntries(people.map(({ name, born }) => [name, born]))',
          value: '{ Ada: 1815, Alan: 1912 }',
        },
        {
          cell: 'people.map((p) => p.nam)',
          error:
            /1:21 - Property 'nam' does not exist on type '\{ name: string; born: number; \}'\. Did you mean 'name'\?/,
        },
        {
          cell: 'new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(1234.5)',
          value: "'$1,234.50'",
        },
        { cell: 'Array.from({ length: 3 }, (_, i) => String.fromCharCode(65 + i)).join("")', value: "'ABC'" },
        { cell: 'crypto.randomUUID().length', value: '36' },
        { cell: 'atob(btoa("round trip"))', value: "'round trip'" },
        { cell: 'performance.now() > 0 && typeof navigator', value: "'object'" },
      ],
    },
  ],
};
