import { types } from 'node:util';
import { isRecord } from '#shared/records.ts';
import { jsonBundle, type RenderedOutput } from './mimeBundle.ts';
import { isObject, methodOf } from './typeGuards.ts';

/**
 * Key of the method with which a value supplies its own forms. The method returns a MIME bundle or a promise of a MIME
 * bundle.
 */
export const ownForms = Symbol.for('Jupyter.display');

type Maker = (plain: () => RenderedOutput) => RenderedOutput | Promise<RenderedOutput>;

/**
 * Returns the function that renders a value with a method of the value; `undefined` if the value has no such method.
 * The methods are Deno's `Symbol.for('Jupyter.display')`, IPython's `_repr_mimebundle_`, which returns a bundle or a
 * pair of bundle and metadata, and `toHtml()`. Errors of the method are thrown unchanged.
 * @throws CatalogError InvalidInput (13) naming the form that JSON can't hold
 */
export function displayHook(value: unknown): Maker | undefined {
  const display = isObject(value) && types.isProxy(value) ? throughProxy(value) : methodOf(value, ownForms);
  if (display) return (plain) => settled(display(), (made) => bundleOf(made) ?? plain());
  const bundle = methodOf(value, '_repr_mimebundle_');
  if (bundle) return (plain) => settled(bundle(), (made) => pairOf(made) ?? plain());
  const html = methodOf(value, 'toHtml');
  if (!html) return undefined;
  return (plain) =>
    settled(html(), (made) => {
      const shown = plain();
      // The plain text is created first, because it is the only form if `made` is not a string.
      return typeof made === 'string'
        ? { data: { 'text/html': made, 'text/plain': shown.data['text/plain'] }, metadata: {} }
        : shown;
    });
}

// Reads the display method also from a proxy, because data frame libraries wrap their data frames in proxies. If the
// proxy throws, the value has no forms.
function throughProxy(value: object): (() => unknown) | undefined {
  try {
    const method: unknown = Reflect.get(value, ownForms);
    return typeof method === 'function' ? () => Reflect.apply(method, value, []) as unknown : undefined;
  } catch {
    return undefined;
  }
}

const settled = (made: unknown, then: (made: unknown) => RenderedOutput): RenderedOutput | Promise<RenderedOutput> =>
  isObject(made) && types.isPromise(made) ? made.then(then) : then(made);

function bundleOf(data: unknown): RenderedOutput | undefined {
  const isBundle = isRecord(data) && Object.keys(data).every((key) => key.includes('/'));
  return isBundle ? { data: jsonBundle(data), metadata: {} } : undefined;
}

function pairOf(made: unknown): RenderedOutput | undefined {
  if (!Array.isArray(made)) return bundleOf(made);
  const shown = bundleOf(made[0]);
  const metadata: unknown = made[1];
  return shown && { ...shown, metadata: isRecord(metadata) ? jsonBundle(metadata) : {} };
}
