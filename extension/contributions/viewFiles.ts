import { viewFileEnding } from '#shared/viewFile.ts';
import { viewFileEditorId } from '../manifest.ts';

/** The file with the schema of view files. It is generated from the table of fields that also reads them. */
export const viewSchemaFile = 'media/lance-view.schema.json';
export const viewFileValidation = { fileMatch: `*${viewFileEnding}`, url: `./${viewSchemaFile}` };

/** A click on a view file shows what it names. "Reopen Editor With…" shows its text. */
export const customEditors = [
  {
    viewType: viewFileEditorId,
    displayName: 'Lance View',
    selector: [{ filenamePattern: `*${viewFileEnding}` }],
    priority: 'default',
  },
];
