/** A variable of the notebook, as generated code reads and writes it. */
export type Variable = { v: unknown };

/** The variables of a notebook. Each is an object of its own, that code which uses it holds on to. */
export class Variables {
  readonly #all = new Map<string, Variable>();

  /** The variables of these names, made where there are none. */
  get(names: readonly string[]): Variable[] {
    return names.map((name) => this.of(name));
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  /** The variable of a name, made when there is none. */
  of(name: string): Variable {
    const known = this.#all.get(name);
    if (known) return known;
    const made: Variable = { v: undefined };
    this.#all.set(name, made);
    return made;
  }

  /** The variables as an object with their names: what it is told, they are told. */
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
