// A server that repeats a secret in an error may have encoded it: in a URL, in JSON, or with a user name as base64.

type Patterns = {
  /** A secret as it is, percent-encoded or escaped. */
  readonly plain: readonly RegExp[];
  /** The characters of a base64 text that only the secret determines. */
  readonly base64: readonly RegExp[];
};

const known = new WeakMap<readonly string[], Patterns>();

/** Shorter values would also match parts of ordinary words. */
const minLength = 4;
const minBase64Bytes = 6;

/** Replaces the secrets that were sent, in case a server repeats them, also percent-encoded, escaped or in base64. */
export function redact(text: string, secrets: readonly string[]): string {
  let patterns = known.get(secrets);
  if (!patterns) {
    patterns = patternsOf(secrets);
    known.set(secrets, patterns);
  }
  const { plain, base64 } = patterns;
  const clean = base64.reduce(withoutBase64, text);
  return plain.reduce((rest, pattern) => rest.replace(pattern, '…'), clean);
}

function patternsOf(secrets: readonly string[]): Patterns {
  // Longest first, because replacing a short secret inside a longer one would leave the rest of the longer one.
  const all = [...new Set(secrets.flatMap(withParts))]
    .filter((secret) => secret.length >= minLength)
    .toSorted((a, b) => b.length - a.length);
  return {
    plain: all.map((secret) => new RegExp(Array.from(secret, anyForm).join(''), 'g')),
    base64: all.flatMap(base64Cores).map((core) => new RegExp(Array.from(core, anyBase64Form).join(''), 'g')),
  };
}

/** Returns a header value and the secrets in it: the value without its scheme, and the password of `Basic`. */
function withParts(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (rest === '') return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, rest];
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return [value, rest, pair, pair.slice(pair.indexOf(':') + 1)];
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

const percentForm = (bytes: Buffer): string =>
  Array.from(bytes, (byte) => {
    const hex = byte.toString(16).padStart(2, '0');
    return `%${hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
  }).join('');

/** Returns a pattern for one character as it is, percent-encoded as UTF-8 or Latin-1, or escaped as in JSON. */
function anyForm(character: string): string {
  const forms = new Set([
    escaped(character),
    percentForm(Buffer.from(character, 'utf8')),
    percentForm(Buffer.from(character, 'latin1')),
    escaped(JSON.stringify(character).slice(1, -1)),
    ...(character === ' ' ? [escaped('+')] : []),
    ...(character === '/' ? [escaped(String.raw`\/`)] : []),
  ]);
  // The longest form comes first, because a single backslash is also the start of an escaped one.
  return `(?:${[...forms].toSorted((a, b) => b.length - a.length).join('|')})`;
}

/**
 * Returns the characters of base64 that depend on the secret alone, for each position that the secret can have in the
 * groups of three bytes. Text before the secret, such as a user name, shifts it.
 */
function base64Cores(secret: string): string[] {
  const encodings = new Set([Buffer.from(secret, 'utf8'), Buffer.from(secret, 'latin1')]);
  return [...encodings]
    .filter(({ length }) => length >= minBase64Bytes)
    .flatMap((bytes) =>
      [0, 1, 2].map((shift) => {
        const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
        return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
      }),
    );
}

/** Returns a pattern for a character of base64, of its form for URLs, or percent-encoded. */
function anyBase64Form(character: string): string {
  if (character === '+') return '(?:[+-]|%2[bB])';
  return character === '/' ? String.raw`(?:\\?[/_]|%2[fF])` : character;
}

const isBase64 = (character: string | undefined): boolean => /^[\w+/=%-]$/.test(character ?? '');

/** Removes the whole base64 text around each match, because its other characters hold the ends of the secret. */
function withoutBase64(text: string, pattern: RegExp): string {
  let clean = '';
  let from = 0;
  for (const { index, 0: core } of text.matchAll(pattern)) {
    if (index < from) continue;
    let start = index;
    while (start > from && isBase64(text[start - 1])) start -= 1;
    let end = index + core.length;
    while (isBase64(text[end])) end += 1;
    clean += `${text.slice(from, start)}…`;
    from = end;
  }
  return clean + text.slice(from);
}
