import type { Theme } from './corpus.ts';

export const waiting: Theme = {
  name: 'Waiting in the corpus',
  sequences: [
    {
      name: 'is done wherever a module may await',
      steps: [
        { cell: 'const { a: [x] = [await Promise.resolve(1)] } = {} as { a?: number[] }; x', value: '1' },
        { cell: '[await 1, ...(await [2, 3])]', value: '[ 1, 2, 3 ]' },
        { cell: '({ k: await "v", [await "computed"]: 1 })', value: "{ k: 'v', computed: 1 }" },
        { cell: 'if (await true) console.log("yes"); else console.log("no")', out: 'yes\n' },
        { cell: '(await 1) ? await "left" : await "right"', value: "'left'" },
        { cell: 'switch (await 2) { case await 2: console.log("two") }', out: 'two\n' },
        {
          cell: 'while (await false); for (let i = await 0; i < (await 2); i += await 1) console.log(i)',
          out: '0\n1\n',
        },
        {
          cell: 'try { await Promise.reject(new Error("no")) } catch (e) { console.log(await "caught") } finally { await null }',
          out: 'caught\n',
        },
        { cell: 'class Late extends (await Promise.resolve(Array<number>)) {} new Late().length', value: '0' },
        { cell: 'class Never { static v = await 1 }', error: /1:26 - 'await' expressions are only allowed/ },
        { cell: 'export const exported = await 7; exported', value: '7' },
        { cell: 'export default await 8' },
        { cell: 'const fn = async () => await 9; fn().then((n) => n + 1)', value: /^Promise/ },
        { cell: 'await fn()', value: '9' },
        { cell: '(await fn()) + (await fn())', value: '18' },
        { cell: '(await import("node:path")).posix.join("a", "b")', value: "'a/b'" },
        {
          cell: 'const { promise, resolve } = Promise.withResolvers<number>(); setTimeout(resolve, 1, 10); await promise',
          value: '10',
        },
        { cell: 'await { then(done: (n: number) => void) { done(11) } }', value: '11' },
      ],
    },
    {
      name: 'is done for each item of what is asynchronous',
      steps: [
        { cell: 'async function* ticks(n: number) { for (let i = 0; i < n; i++) { await null; yield i } }' },
        { cell: 'for await (const t of ticks(3)) { if (t === 1) continue; console.log(t) }', out: '0\n2\n' },
        { cell: 'for await (const t of [Promise.resolve("a"), "b"]) console.log(t)', out: 'a\nb\n' },
        { cell: 'await Array.fromAsync(ticks(3), (n) => n * 2)', value: '[ 0, 2, 4 ]' },
        {
          cell: 'import { Readable } from "node:stream"; const parts: string[] = []; for await (const part of Readable.from(["x", "y"])) parts.push(part); parts',
          value: "[ 'x', 'y' ]",
        },
        {
          cell: 'const web = new ReadableStream<number>({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } }); for await (const n of web) console.log(n)',
          out: '1\n2\n',
        },
        { cell: 'await new Response("body").text()', value: "'body'" },
        {
          cell: 'import { setTimeout as sleep } from "node:timers/promises"; await sleep(1, "slept")',
          value: "'slept'",
        },
        {
          cell: 'import { once, EventEmitter } from "node:events"; const bus = new EventEmitter(); setImmediate(() => bus.emit("go", 5)); await once(bus, "go")',
          value: '[ 5 ]',
        },
        {
          cell: 'import { createInterface } from "node:readline"; for await (const line of createInterface({ input: Readable.from("a\\nb\\n") })) console.log(line)',
          out: 'a\nb\n',
        },
      ],
    },
    {
      name: 'ends with what was held being disposed of',
      steps: [
        { cell: 'const hold = (name: string) => ({ name, [Symbol.dispose]() { console.log("gone", name) } })' },
        { cell: '{ using a = hold("a"); console.log("in", a.name) }\nconsole.log("out")', out: 'in a\ngone a\nout\n' },
        { cell: 'using first = hold("1"), second = hold("2"); console.log("body")', out: 'body\ngone 2\ngone 1\n' },
        { cell: 'for (using each of [hold("x"), hold("y")]) console.log(each.name)', out: 'x\ngone x\ny\ngone y\n' },
        { cell: 'using none = null; await using nothing = undefined; "fine"', value: "'fine'" },
        { cell: 'using bad = 5 as any', error: /^TypeError: / },
        {
          cell: 'await using failing = { async [Symbol.asyncDispose]() { throw new Error("dispose failed") } }',
          error: /^Error: dispose failed$/,
        },
        {
          cell: 'using stack = new DisposableStack(); stack.defer(() => console.log("deferred")); stack.use(hold("used")); 1',
          out: 'gone used\ndeferred\n',
          value: '1',
        },
        {
          cell: 'try { using t = hold("t"); throw new Error("inside") } catch (e) { console.log((e as Error).message) }',
          out: 'gone t\ninside\n',
        },
      ],
    },
    {
      name: 'leaves timers and promises to later cells',
      steps: [
        { cell: 'setTimeout(() => console.log("later"), 5); "now"', value: "'now'", late: /^later\n$/ },
        {
          cell: 'console.log("sync"); queueMicrotask(() => console.log("micro")); await null; console.log("after")',
          out: 'sync\nmicro\nafter\n',
        },
        { cell: 'let ticked = 0; const ticker = setInterval(() => ticked++, 1)' },
        { cell: 'while (ticked < 3) await sleep(1); clearInterval(ticker); ticked >= 3', value: 'true' },
        { cell: 'const pending = sleep(1, "done")' },
        { cell: 'await pending', value: "'done'" },
        {
          cell: 'const aborted = new AbortController(); aborted.abort(new Error("called off")); await sleep(1000, null, { signal: aborted.signal })',
          error: /AbortError: The operation was aborted/,
        },
        { cell: 'await Promise.race([sleep(60_000, "slow", { ref: false }), sleep(1, "fast")])', value: "'fast'" },
      ],
    },
  ],
};
