/** A notebook variable, as generated code reads and writes it. */
export type Variable = { v: unknown };

/**
 * The variables of a notebook. Each variable is a separate object, and code that uses the variable keeps a reference to
 * this object.
 */
export class Variables {
  readonly #all = new Map<string, Variable>();

  get(names: readonly string[]): Variable[] {
    return names.map((name) => this.of(name));
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  of(name: string): Variable {
    const known = this.#all.get(name);
    if (known) return known;
    const made: Variable = { v: undefined };
    this.#all.set(name, made);
    return made;
  }

  /** Returns a live view of the variables as an object: writes to it change the variables. */
  asObject(): Record<string, unknown> {
    const all = this.#all;
    const named = (key: string | symbol) => (typeof key === 'string' ? all.get(key) : undefined);
    return new Proxy<Record<string, unknown>>(
      {},
      {
        get: (_, key) => named(key)?.v,
        set: (_, key, value) => {
          if (typeof key !== 'string') return false;
          this.of(key).v = value;
          return true;
        },
        has: (_, key) => named(key) !== undefined,
        deleteProperty: (_, key) => {
          if (typeof key === 'string') all.delete(key);
          return true;
        },
        ownKeys: () => [...all.keys()],
        getOwnPropertyDescriptor: (_, key) => {
          const found = named(key);
          return found && { value: found.v, writable: true, enumerable: true, configurable: true };
        },
        defineProperty: (_, key, { value }) => {
          if (typeof key !== 'string') return false;
          this.of(key).v = value;
          return true;
        },
      },
    );
  }
}
