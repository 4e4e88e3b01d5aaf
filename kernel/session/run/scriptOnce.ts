import { setFlagsFromString } from 'node:v8';
import { Script, type ScriptOptions } from 'node:vm';

/**
 * Compiles a script that will not come again. V8 keeps what it compiles in case the same text does, whatever its name, and
 * of ten thousand cells that is 20 MB; the person's own `eval` in a loop is quick by it and keeps it.
 */
export function scriptOnce(code: string, options: ScriptOptions): Script {
  setFlagsFromString('--no-compilation-cache');
  try {
    return new Script(code, options);
  } finally {
    // Where code is cut off none of this runs, and the next cell makes up for it.
    setFlagsFromString('--compilation-cache');
  }
}
