import { isRecord } from '#shared/records.ts';
import type { Wire } from '#catalog/transport/request.ts';

/**
 * Reads a JSON response field by field. A field with another type than in the specification is an error that names
 * it; the specification treats `null` like a missing field.
 */
export class Reply {
  readonly #wire: Wire;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @throws CatalogError Internal (18) if the body is not an object; an empty response has no fields */
  constructor(wire: Wire, body: unknown) {
    this.#wire = wire;
    if (body !== undefined && body !== null && !isRecord(body))
      throw wire.unexpected('a response that is not an object');
    this.#fields = body ?? {};
  }

  /** A whole number from 0 that a JavaScript number holds exactly. */
  count(name: string): number {
    return this.maybeCount(name) ?? this.#lacks(name);
  }

  maybeCount(name: string): number | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)) return value;
    throw this.#wire.unexpected(`a "${name}" that is not a whole number`);
  }

  maybeNumber(name: string): number | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
    throw this.#wire.unexpected(`a "${name}" that is not a number`);
  }

  maybeBoolean(name: string): boolean | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#wire.unexpected(`a "${name}" that is neither true nor false`);
  }

  text(name: string): string {
    return this.maybeText(name) ?? this.#lacks(name);
  }

  maybeText(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wire.unexpected(`a "${name}" that is not a string`);
  }

  texts(name: string): string[] {
    const value = this.#fields[name];
    if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
    throw this.#wire.unexpected(`a "${name}" that is not a list of strings`);
  }

  items(name: string): Reply[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) throw this.#wire.unexpected(`a response without the list "${name}"`);
    return value.map((item: unknown) => new Reply(this.#wire, item));
  }

  /** The objects of a map by their keys. */
  entries(name: string): [string, Reply][] {
    const value = this.#fields[name];
    if (!isRecord(value)) throw this.#wire.unexpected(`a response without the map "${name}"`);
    return Object.entries(value).map(([key, item]) => [key, new Reply(this.#wire, item)]);
  }

  maybeObject(name: string): Reply | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Reply(this.#wire, value);
  }

  /** All fields, which must be strings; for responses that are a bare map in the specification. */
  textMap(): Record<string, string> {
    const entries = Object.entries(this.#fields).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    if (entries.length === Object.keys(this.#fields).length) return Object.fromEntries(entries);
    throw this.#wire.unexpected('a map with values that are not strings');
  }

  raw(name: string): unknown {
    return this.#fields[name] ?? undefined;
  }

  #lacks(name: string): never {
    throw this.#wire.unexpected(`a response without "${name}"`);
  }
}
