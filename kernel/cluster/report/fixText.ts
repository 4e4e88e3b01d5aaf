import type { Mend } from '#cluster/fixes/fix.ts';
import { manifestsYaml } from './manifestYaml.ts';

/** A mend in parts that can be shown, copied or opened, each where there is one. */
type MendText = {
  /** A line, or several, for a shell. */
  readonly command?: string;
  /** What is reviewed before it is used. */
  readonly document?: { readonly title: string; readonly language: 'json' | 'yaml'; readonly text: string };
  /** A sentence for a person. */
  readonly advice?: string;
};

export function mendText(mend: Mend): MendText {
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
