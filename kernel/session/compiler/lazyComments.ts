import ts from 'typescript-6';

// Most of the text that declares Node.js and the language is comments. Their syntax trees are a large share of what a
// snapshot loads into memory at every start, but a notebook needs few of them. So the parser skips comments, and each
// comment is parsed when it is first read.

/** Internals that TypeScript does not declare. */
type Internals = {
  objectAllocator: { getNodeConstructor(): { prototype: object } };
  getJSDocCommentRanges(node: ts.Node, text: string): readonly ts.CommentRange[] | undefined;
  parseIsolatedJSDocComment(text: string, start: number, length: number): { jsDoc: ts.JSDoc } | undefined;
  canHaveJSDoc(node: ts.Node): boolean;
};
type Documented = ts.Node & { ownDocs?: readonly ts.JSDoc[] | typeof leftOut | undefined };

const internals = ts as unknown as Internals;

/**
 * Marks a node whose comments were left out. The mark is a string and not an object, because a process that starts from
 * a snapshot has other objects than the process that wrote the snapshot.
 */
const leftOut = 'left out';

const nodePrototype = (): object => internals.objectAllocator.getNodeConstructor().prototype;
const areApart = (): boolean => Object.hasOwn(nodePrototype(), 'jsDoc');

/** From now on, parses a left-out comment when it is first read. Called before any file is parsed. */
export function trackNodeComments(): void {
  if (areApart()) return;
  Object.defineProperty(nodePrototype(), 'jsDoc', {
    configurable: true,
    get(this: Documented) {
      if (this.ownDocs === leftOut) this.ownDocs = parseDocs(this);
      return this.ownDocs;
    },
    set(this: Documented, docs: readonly ts.JSDoc[] | undefined) {
      // Most nodes have no comments and do not need the property.
      if (docs !== undefined || this.ownDocs !== undefined) this.ownDocs = docs;
    },
  });
}

/**
 * Removes the comments of a file that will not change. The compiler still finds `@deprecated`, because the parser has
 * marked the deprecated nodes.
 */
export function dropComments(file: ts.SourceFile): void {
  const visit = (node: Documented): void => {
    if (node.ownDocs) node.ownDocs = leftOut;
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Returns how to parse a file for `recordDroppedComments`; undefined if its comments are not left out. */
export const unreadDocs = (text: string): ts.JSDocParsingMode | undefined => {
  // The parser marks deprecated nodes only while it parses their comments, so a file with `@deprecated` is parsed with
  // all comments.
  return areApart() && !text.includes('@deprecated') ? ts.JSDocParsingMode.ParseNone : undefined;
};

/** Marks the commented nodes of a file that was parsed without comments. Called once the file is bound. */
export function recordDroppedComments(file: ts.SourceFile): void {
  const { text } = file;
  if (!text.includes('/**')) return;
  const visit = (node: Documented): void => {
    if (isCommented(text, node.pos) && node.kind !== ts.SyntaxKind.Identifier && internals.canHaveJSDoc(node))
      node.ownDocs = leftOut;
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Whether a comment precedes the node at a position. */
function isCommented(text: string, position: number): boolean {
  for (let at = position; ; at++) {
    const code = text.charCodeAt(at);
    // The first character after the whitespace decides, because a comment starts with a slash.
    if (code > space || Number.isNaN(code)) return code === slash;
  }
}
const space = 0x20;
const slash = 0x2f;

function parseDocs(node: ts.Node): readonly ts.JSDoc[] | undefined {
  const { text } = node.getSourceFile();
  const docs = (internals.getJSDocCommentRanges(node, text) ?? []).flatMap(({ pos, end }) => {
    const parsed = internals.parseIsolatedJSDocComment(text, pos, end - pos)?.jsDoc;
    if (!parsed) return [];
    (parsed as { parent: ts.Node }).parent = node;
    markAsTypeScript(parsed);
    return [parsed];
  });
  return docs.length > 0 ? docs : undefined;
}

/**
 * Marks a separately parsed comment as TypeScript. Otherwise the compiler takes the comment for JavaScript, where types
 * in comments have an effect.
 */
function markAsTypeScript(node: ts.Node): void {
  (node as { flags: ts.NodeFlags }).flags &= ~ts.NodeFlags.JavaScriptFile;
  ts.forEachChild(node, markAsTypeScript);
}
