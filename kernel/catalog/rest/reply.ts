import type { Wire } from '#catalog/transport/request.ts';
import type { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import {
  type Check,
  ensureShape,
  isBoolean,
  isCount,
  isFiniteNumber,
  isString,
  listOf,
  mapOf,
  optional,
} from '#shared/shape.ts';

/**
 * Reads a JSON response field by field. If a field has another type than in the specification, the error names the
 * field. `null` is treated like a missing field, as in the specification.
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
    return this.#read(name, isCount, 'is not a whole number');
  }

  maybeNumber(name: string): number | undefined {
    return this.#read(name, isFiniteNumber, 'is not a number');
  }

  maybeBoolean(name: string): boolean | undefined {
    return this.#read(name, isBoolean, 'is neither true nor false');
  }

  text(name: string): string {
    return this.maybeText(name) ?? this.#lacks(name);
  }

  maybeText(name: string): string | undefined {
    return this.#read(name, isString, 'is not a string');
  }

  texts(name: string): string[] {
    return ensureShape(this.#fields[name], listOf(isString), () => this.#invalid(name, 'is not a list of strings'));
  }

  items(name: string): Reply[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) throw this.#wire.unexpected(`a response without the list "${name}"`);
    return value.map((item: unknown) => new Reply(this.#wire, item));
  }

  /** Returns the key and the object of each entry of a map. */
  entries(name: string): [string, Reply][] {
    const value = this.#fields[name];
    if (!isRecord(value)) throw this.#wire.unexpected(`a response without the map "${name}"`);
    return Object.entries(value).map(([key, item]) => [key, new Reply(this.#wire, item)]);
  }

  maybeObject(name: string): Reply | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Reply(this.#wire, value);
  }

  /** Returns all fields, which must be strings. Some responses are a bare map in the specification. */
  textMap(): Record<string, string> {
    const refuse = () => this.#wire.unexpected('a map with values that are not strings');
    return ensureShape(this.#fields, mapOf(isString), refuse);
  }

  raw(name: string): unknown {
    return this.#fields[name] ?? undefined;
  }

  #read<T>(name: string, check: Check<T>, problem: string): T | undefined {
    return ensureShape(this.#fields[name] ?? undefined, optional(check), () => this.#invalid(name, problem));
  }

  #invalid(name: string, problem: string): CatalogError {
    return this.#wire.unexpected(`a "${name}" that ${problem}`);
  }

  #lacks(name: string): never {
    throw this.#wire.unexpected(`a response without "${name}"`);
  }
}
