import { subjectText, type ErrorRule } from './engineText.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { columnNotFound } from './queryErrors.ts';

/** The words the engine puts before its own sentence. */
const lead = String.raw`^(?:Invalid input, |lance error: |LanceError\(\w+\): )*`;

/** Rules for errors of tags, branches, indexes and columns. */
export const refRules: readonly ErrorRule[] = [
  {
    pattern: new RegExp(`${lead}Ref not found error: tag (.+?) does not exist`),
    kind: 'TagNotFound',
    say: (subject, found) => [`${subjectText(subject)} has no tag "${found[1]}".`, nextSteps.listTags],
  },
  {
    pattern: new RegExp(`${lead}Ref conflict error: tag (.+?) already exists`),
    kind: 'TagAlreadyExists',
    say: (subject, found) => [
      `${subjectText(subject)} has a tag "${found[1]}" already.`,
      'Choose another name, or move it with tags().update().',
    ],
  },
  {
    pattern: new RegExp(`${lead}Ref conflict error: Branch (.+?) is referenced by (\\[[^\\]\n]*\\])`),
    kind: 'InvalidInput',
    say: (subject, found) => {
      const others = [...found[2]!.matchAll(/"([^"]+)"/g)].map(([quoted]) => quoted).join(', ');
      return [
        `${subjectText(subject)}: the branch "${found[1]}" can't be deleted, since other branches start from it: ${others}.`,
        'Delete those first.',
      ];
    },
  },
  {
    pattern: new RegExp(`${lead}Duplicate field name "(.+?)" in schema`),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)} has a column "${found[1] ?? found[2]}" already.`,
      'Choose another name.',
    ],
  },
  {
    pattern: new RegExp(`${lead}num_sub_vectors must divide vector dimension (\\d+), but got (\\d+)`),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: vectors of ${found[1]} numbers can't be split into ${found[2]} equal parts.`,
      `Set numSubVectors to a divisor of ${found[1]}, or leave it out.`,
    ],
  },
  {
    pattern: new RegExp(
      `${lead}(?:Unprocessable: )?Not enough rows to train (\\w+)\\. Requires (\\d+) rows but only (\\d+)`,
    ),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)} has ${found[3]} rows, but training ${found[1]} for an index needs ${found[2]}.`,
      'Add rows first, or create an IVF_FLAT index.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Not supported: Creating empty vector indices[^\n]*for column '(.+?)'`),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)} has no rows to train an index on the column "${found[1]}".`,
      'Add rows first, then create the index.',
    ],
  },
  {
    pattern: new RegExp(
      `${lead}(?:Failed to execute merge insert: GenericFailure, )?(?:Invalid input, )?Ambiguous merge inserts[^\n]*? on \\((.+?)\\)\\.`,
    ),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: several of the rows to merge match the same row (${found[1]}).`,
      'Keep only one of them.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Ref not found error: Branch (.+?) does not exist`),
    kind: 'BranchNotFound',
    say: (subject, found) => [`${subjectText(subject)} has no branch "${found[1]}".`, nextSteps.listBranches],
  },
  {
    pattern: new RegExp(`${lead}(?:Invalid ref|Ref is invalid|Ref name|Refs? error)[^\n]*`, 'i'),
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)}: the name is not valid for a tag or a branch.`,
      'Use letters, digits, "_", "-" and ".".',
    ],
  },
  {
    pattern: new RegExp(`${lead}Index name '(.+?)' already exists`),
    kind: 'IndexAlreadyExists',
    say: (subject, found) => [
      `${subjectText(subject)} has an index "${found[1]}" already.`,
      'Choose another name, or leave out replace: false.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Lance index not found: name=(.+?),? *(?:/|\n|$)`),
    kind: 'IndexNotFound',
    say: (subject, found) => [
      `${subjectText(subject)} has no index "${found[1]}".`,
      'List the indexes with listIndices().',
    ],
  },
  {
    pattern: new RegExp(`${lead}Cannot perform full text search unless an INVERTED index`),
    kind: 'IndexNotFound',
    say: (subject) => [
      `${subjectText(subject)} has no full-text index.`,
      'Create one with createIndex(column, { type: "FTS" }).',
    ],
  },
  {
    pattern: new RegExp(
      `${lead}(?:Schema Error: Field path \`(.+?)\` not found|Column "?(.+?)"? (?:does not exist in the dataset|not found)|Field '(.*?)' not found)`,
    ),
    kind: 'ColumnNotFound',
    say: (subject, found) => columnNotFound(subject, found[1] ?? found[2] ?? found[3] ?? '', undefined),
  },
  {
    pattern: new RegExp(`${lead}Column (.+?) already exists in the dataset|^Column '(.+?)' already exists$`),
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)} has a column "${found[1] ?? found[2]}" already.`,
      'Choose another name.',
    ],
  },
  {
    // Whole numbers in rows are Float64, which these indexes do not take.
    pattern: /A Bitmap index cannot be created on the field `(.+?)` which has data type (Float\d+)/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: the column "${found[1]}" of ${found[2]} can't have an index of type BITMAP.`,
      'Use BTREE, or a column of integers: pass bigint values (1n) or a schema when you create the table.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Cannot drop all columns`),
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)} would have no column left.`,
      'Keep at least one column, or drop the table.',
    ],
  },
];
