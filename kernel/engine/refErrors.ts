import { thing, type Rule } from './engineText.ts';
import { noColumn } from './queryErrors.ts';

/** The words that the engine puts before its own sentence. */
const lead = String.raw`^(?:Invalid input, |lance error: |LanceError\(\w+\): |Failed to execute query stream: GenericFailure, )*`;

/** What the engine says of tags, indexes and columns as such. */
export const refRules: readonly Rule[] = [
  {
    pattern: new RegExp(`${lead}Ref not found error: tag (.+?) does not exist`),
    kind: 'TagNotFound',
    say: (subject, found) => [`${thing(subject)} has no tag "${found[1]}".`, 'See tags().list() for those there are.'],
  },
  {
    pattern: new RegExp(`${lead}Ref conflict error: tag (.+?) already exists`),
    kind: 'TagAlreadyExists',
    say: (subject, found) => [
      `${thing(subject)} has a tag "${found[1]}" already.`,
      'Choose another name, or move it with tags().update().',
    ],
  },
  {
    pattern: new RegExp(`${lead}Ref not found error: Branch (.+?) does not exist`),
    kind: 'BranchNotFound',
    say: (subject, found) => [
      `${thing(subject)} has no branch "${found[1]}".`,
      'See branches().list() for those there are.',
    ],
  },
  {
    pattern: new RegExp(`${lead}(?:Invalid ref|Ref is invalid|Ref name|Refs? error)[^\n]*`, 'i'),
    kind: 'InvalidInput',
    say: (subject) => [
      `${thing(subject)}: this can't be the name of a tag or a branch.`,
      'Use letters, digits, "_", "-" and ".".',
    ],
  },
  {
    pattern: new RegExp(`${lead}Index name '(.+?)' already exists`),
    kind: 'IndexAlreadyExists',
    say: (subject, found) => [
      `${thing(subject)} has an index "${found[1]}" already.`,
      'Choose another name, or leave out replace: false.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Lance index not found: name=(.+?),? *(?:/|\n|$)`),
    kind: 'IndexNotFound',
    say: (subject, found) => [
      `${thing(subject)} has no index "${found[1]}".`,
      'See listIndices() for those there are.',
    ],
  },
  {
    pattern: new RegExp(`${lead}Cannot perform full text search unless an INVERTED index`),
    kind: 'IndexNotFound',
    say: (subject) => [
      `${thing(subject)} has no index for words.`,
      'Make one with createIndex(column, { type: "FTS" }).',
    ],
  },
  {
    pattern: new RegExp(
      `${lead}(?:Schema Error: Field path \`(.+?)\` not found|Column "?(.+?)"? (?:does not exist in the dataset|not found)|Field '(.*?)' not found)`,
    ),
    kind: 'ColumnNotFound',
    say: (subject, found) => noColumn(subject, found[1] ?? found[2] ?? found[3] ?? '', undefined),
  },
  {
    pattern: new RegExp(`${lead}Column (.+?) already exists in the dataset`),
    kind: 'InvalidInput',
    say: (subject, found) => [`${thing(subject)} has a column "${found[1]}" already.`, 'Choose another name.'],
  },
  {
    pattern: new RegExp(`${lead}Cannot drop all columns`),
    kind: 'InvalidInput',
    say: (subject) => [`${thing(subject)} would have no column left.`, 'Leave one, or drop the table.'],
  },
];
