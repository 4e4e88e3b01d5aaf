import { cutText, escapeHtml } from '#shared/markup.ts';
import type { ValueEntry, ValueNode } from './valueTree.ts';

/** Entries of one collection that are seen at once, and how many more each click shows. */
const firstPage = 20;
const page = 100;
const previewChars = 100;

/**
 * The colours of the editor where there is one, else of JupyterLab, else of the page. Only inside of our own class, since
 * all outputs of a notebook may share one document.
 */
const style = `<style>
.lance-value{font-family:var(--vscode-editor-font-family,var(--jp-code-font-family,monospace));font-size:var(--vscode-editor-font-size,var(--jp-code-font-size,13px));line-height:1.5;overflow-x:auto}
.lance-value ul{list-style:none;margin:0;padding:0 0 0 1.4em}
.lance-value li{margin:0;white-space:nowrap}
.lance-value summary{cursor:pointer;white-space:nowrap}
.lance-value li>span{padding-left:1em}
.lance-value pre{margin:0 0 0 1.4em;padding:0;white-space:pre-wrap;font:inherit;color:inherit;background:none;opacity:.85}
.lance-value .k{color:var(--vscode-debugTokenExpression-name,var(--jp-mirror-editor-property-color,inherit))}
.lance-value .s{color:var(--vscode-debugTokenExpression-string,var(--jp-mirror-editor-string-color,inherit))}
.lance-value .n{color:var(--vscode-debugTokenExpression-number,var(--jp-mirror-editor-number-color,inherit))}
.lance-value .b{color:var(--vscode-debugTokenExpression-boolean,var(--jp-mirror-editor-keyword-color,inherit))}
.lance-value .d{opacity:.7}
.lance-value details[open]>summary>.p{display:none}
</style>`;

const classes: Partial<Record<ValueNode['kind'], string>> = {
  string: 's',
  number: 'n',
  boolean: 'b',
  empty: 'd',
  function: 'd',
  note: 'd',
};

/** A tree of `<details>`, its first level open; no script. `hint` says how to see what is left out. */
export function valueHtml(root: ValueNode, hint: string | undefined): string {
  const note = hint === undefined ? '' : `<p class="d">${escapeHtml(hint)}</p>`;
  return `${style}<div class="lance-value">${nodeHtml(undefined, root, true)}${note}</div>`;
}

function nodeHtml(label: string | undefined, node: ValueNode, isOpen = false): string {
  const name =
    label === undefined ? '' : `<span class="k">${escapeHtml(label)}</span>${label.endsWith('=>') ? ' ' : ': '}`;
  if (node.long !== undefined) return folded(`${name}${textHtml(node)}`, `<pre>${escapeHtml(node.long)}</pre>`, isOpen);
  if (node.entries.length === 0) {
    const dots =
      node.omitted > 0
        ? ` ${node.brackets[0]} … ${node.brackets[1]}`
        : node.kind === 'object'
          ? ` ${node.brackets}`
          : '';
    return `<span>${name}${textHtml(node)}${dots}</span>`;
  }
  // Of a plain object its entries say enough.
  const isPlain = node.text === 'Object' && label !== undefined;
  const preview = `<span class="d${isPlain ? '' : ' p'}">${escapeHtml(previewOf(node))}</span>`;
  return folded(
    `${name}${isPlain ? '' : `${textHtml(node)} `}${preview}`,
    entriesHtml(node.entries, node.omitted),
    isOpen,
  );
}

const folded = (summary: string, body: string, isOpen: boolean): string =>
  `<details${isOpen ? ' open' : ''}><summary>${summary}</summary>${body}</details>`;

function textHtml({ kind, text }: ValueNode): string {
  const name = classes[kind];
  return name === undefined ? escapeHtml(text) : `<span class="${name}">${escapeHtml(text)}</span>`;
}

function entriesHtml(entries: readonly ValueEntry[], omitted: number, seen = firstPage): string {
  const items = entries.slice(0, seen).map(({ label, node }) => `<li>${nodeHtml(label, node)}</li>`);
  const rest = entries.slice(seen);
  if (rest.length > 0) {
    const title = `Show ${Math.min(page, rest.length)} more of ${(rest.length + omitted).toLocaleString('en-US')}`;
    items.push(`<li>${folded(title, entriesHtml(rest, omitted, page), false)}</li>`);
  } else if (omitted > 0) items.push(`<li><span class="d">… ${omitted.toLocaleString('en-US')} more</span></li>`);
  return `<ul>${items.join('')}</ul>`;
}

/** The first entries in one line: `{ id: 1, name: 'mug', tags: Array(2) }`. */
function previewOf(node: ValueNode): string {
  const isList = node.brackets === '[]';
  const parts: string[] = [];
  let length = 0;
  for (const { label, node: child } of node.entries) {
    const text = child.text === 'Object' ? '{…}' : cutText(child.text, 40);
    const part = isList || label === undefined ? text : `${label}${label.endsWith('=>') ? '' : ':'} ${text}`;
    length += part.length + 2;
    if (length > previewChars) break;
    parts.push(part);
  }
  const isAll = parts.length === node.entries.length && node.omitted === 0;
  return `${node.brackets[0]} ${[...parts, ...(isAll ? [] : ['…'])].join(', ')} ${node.brackets[1]}`;
}
