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

export function formatFix(fix: Fix): FormattedFix {
  switch (fix.kind) {
    case 'command':
      return { command: fix.command };
    case 'advice':
      return { advice: fix.text };
    case 'document':
      return { command: fix.command, document: { title: fix.title, language: fix.language, text: fix.text } };
    case 'objects': {
      const title = fix.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', ');
      return { command: fix.command, document: { title, language: 'yaml', text: manifestsYaml(fix.objects) } };
    }
  }
}
