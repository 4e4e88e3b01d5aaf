import type { Fix } from '#cluster/fixes/fix.ts';
import { manifestsYaml } from './manifestYaml.ts';

/** The parts of a fix that can be shown, copied or opened. */
type FormattedFix = {
  /** One or more shell lines. */
  readonly command?: string;
  /** To be reviewed before use. */
  readonly document?: { readonly title: string; readonly language: 'json' | 'yaml'; readonly text: string };
  readonly advice?: string;
};

export function formatFix(mend: Fix): FormattedFix {
  switch (mend.kind) {
    case 'command':
      return { command: mend.command };
    case 'advice':
      return { advice: mend.text };
    case 'document':
      return { command: mend.command, document: { title: mend.title, language: mend.language, text: mend.text } };
    case 'objects': {
      const title = mend.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', ');
      return { command: mend.command, document: { title, language: 'yaml', text: manifestsYaml(mend.objects) } };
    }
  }
}
