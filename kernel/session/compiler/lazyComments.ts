import ts from 'typescript-6';

// Comments make up most of the declarations of Node and of the language, and their trees a large share of what a snapshot
// has to bring back into memory at every start; hardly a notebook asks for more than a few of them. So they are left out,
// and each is parsed again when somebody asks for it.

/** What TypeScript has but does not declare. */
type Internals = {
  objectAllocator: { getNodeConstructor(): { prototype: object } };
  getJSDocCommentRanges(node: ts.Node, text: string): readonly ts.CommentRange[] | undefined;
  parseIsolatedJSDocComment(text: string, start: number, length: number): { jsDoc: ts.JSDoc } | undefined;
  canHaveJSDoc(node: ts.Node): boolean;
};
type Documented = ts.Node & { ownDocs?: readonly ts.JSDoc[] | typeof leftOut | undefined };

const internals = ts as unknown as Internals;

/** Stands where comments were, also for who started from a snapshot and shares no objects with it. */
const leftOut = 'left out';

const nodePrototype = (): object => internals.objectAllocator.getNodeConstructor().prototype;
const areApart = (): boolean => Object.hasOwn(nodePrototype(), 'jsDoc');

/** To be called before anything is parsed: from then on a node's comments are found wherever they are. */
export function keepDocsApart(): void {
  if (areApart()) return;
  Object.defineProperty(nodePrototype(), 'jsDoc', {
    configurable: true,
    get(this: Documented) {
      if (this.ownDocs === leftOut) this.ownDocs = parseDocs(this);
      return this.ownDocs;
    },
    set(this: Documented, docs: readonly ts.JSDoc[] | undefined) {
      // Most nodes have none, and need no place for them.
      if (docs !== undefined || this.ownDocs !== undefined) this.ownDocs = docs;
    },
  });
}

/** Takes the comments off a file that will not change. What they say for the compiler, `@deprecated`, is noted elsewhere. */
export function leaveOutDocs(file: ts.SourceFile): void {
  const visit = (node: Documented): void => {
    if (node.ownDocs) node.ownDocs = leftOut;
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** How to parse a file whose comments are left out by `leaveOutUnread`; undefined where they are not. */
export const unreadDocs = (text: string): ts.JSDocParsingMode | undefined => {
  // A node that is deprecated is marked as such when its comment is parsed.
  return areApart() && !text.includes('@deprecated') ? ts.JSDocParsingMode.ParseNone : undefined;
};

/** Notes which nodes of a file that was parsed without its comments have some. To be called when it is bound. */
export function leaveOutUnread(file: ts.SourceFile): void {
  const { text } = file;
  if (!text.includes('/**')) return;
  const visit = (node: Documented): void => {
    if (isCommented(text, node.pos) && node.kind !== ts.SyntaxKind.Identifier && internals.canHaveJSDoc(node))
      node.ownDocs = leftOut;
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Whether a comment comes before what begins at a position. */
function isCommented(text: string, position: number): boolean {
  for (let at = position; ; at++) {
    const code = text.charCodeAt(at);
    // Spaces and ends of lines are all that comes before.
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

/** A comment that is parsed alone is taken for one of a JavaScript file, where types in it would mean something. */
function markAsTypeScript(node: ts.Node): void {
  (node as { flags: ts.NodeFlags }).flags &= ~ts.NodeFlags.JavaScriptFile;
  ts.forEachChild(node, markAsTypeScript);
}
