/** Keys of text fields that are pressed with Ctrl or Cmd: select, clipboard, undo, and moves by words. */
const withControl = /^(?:[acvxyz ]|Arrow(?:Left|Right|Up|Down)|Home|End|Backspace|Delete|Enter)$/i;

/**
 * Whether a text field takes a key, so that neither the editor nor the rows may take it. The other keys, such as F1 and
 * Ctrl+Shift+P, open what they open everywhere in the editor.
 */
export function isFieldKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  // AltGr, which types characters, is Ctrl and Alt on Windows.
  const isTyped = ctrlKey ? altKey : !metaKey;
  return isTyped ? !/^F\d+$/.test(key) : withControl.test(key);
}
