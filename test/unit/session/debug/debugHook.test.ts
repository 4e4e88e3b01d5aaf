import assert from 'node:assert/strict';
import ts from 'typescript-6';
import { exposeToDebugger } from '#session/debug/debugHook.ts';
import { type DebugHook, debugHookKey } from '#session/debug/debugTypes.ts';
import { ScriptMaps } from '#session/run/scriptMaps.ts';

const show = (value: unknown) =>
  value === 'later' ? Promise.reject(new Error('Read first.')) : { data: {}, metadata: {} };

suite('What the main thread lends to the debugger', () => {
  const locals: Record<string, unknown> = { price: 20, name: 'pen' };
  let hook: DebugHook;

  suiteSetup(() => {
    exposeToDebugger({ locals, names: () => ['price'], maps: new ScriptMaps(), show });
    hook = Reflect.get(globalThis, debugHookKey) as DebugHook;
  });

  test('uses the compiler, but not where that has been interrupted', () => {
    assert.deepEqual(hook.linesOf('\nf()'), [2]);
    assert.deepEqual(hook.javascriptOf('x as any'), { code: 'x;\n' });
    const found: unknown[] = [];
    ts.forEachChild(ts.createSourceFile('a.ts', 'f()', ts.ScriptTarget.Latest), () => {
      found.push(hook.linesOf('f()'), hook.javascriptOf('f()'));
    });
    assert.deepEqual(found.slice(0, 2), [undefined, undefined]);
  });

  test('leaves stack traces as they were', () => {
    const { stackTraceLimit } = Error;
    hook.linesOf('f()');
    assert.equal(Error.stackTraceLimit, stackTraceLimit);
    assert.equal(typeof new Error('x').stack, 'string');
  });

  test('has the notebook by name to read and to assign to, less the names that are hidden', () => {
    hook.look(['name']);
    const scope = hook.scope as Record<string, unknown>;
    scope['price'] = 25;
    assert.equal(locals['price'], 25);
    assert.equal('name' in scope, false);
    assert.deepEqual({ ...hook.variables() }, { price: 25 });
  });

  test('shows as text what would have to be read first', () => {
    assert.deepEqual(hook.formsOf('later'), { data: { 'text/plain': "'later'" }, metadata: {} });
  });
});
