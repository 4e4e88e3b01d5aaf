import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Runtime } from 'node:inspector';
import { DebugProblem } from './debugTypes.ts';
import type { InspectorLink } from './inspectorLink.ts';
import { hasParts, lengthOf, formatRemoteObject, typeOf } from './remoteText.ts';

/** A variable as sent to the client. Its reference is 0 if it has no parts. */
export type DapVariable = DebugProtocol.Variable & { type: string };

type DapValue = Omit<DapVariable, 'name'>;

/** Which parts of a value are requested; a client that pages sets `filter`. */
export type Wanted = { filter?: 'indexed' | 'named'; start: number; count: number };

/** A value that can be expanded. */
export type VariableContainer = {
  /** Returns the parts of the value, each with a name and a value. */
  parts: (wanted: Wanted) => Promise<ChildVariable[]>;
  /** Assigns another value to a part. */
  set: (name: string, value: Runtime.CallArgument) => Promise<void>;
};

export type ChildVariable = {
  name: string;
  value: Runtime.RemoteObject | string;
  hint?: DebugProtocol.VariablePresentationHint;
};

/** Group of the objects held for the client, which are released together when the code continues. */
export const heldGroup = 'lance-catalog.held';
/** Maximum parts for a client that does not page. */
export const maxParts = 200;

/** The values that the client has received and may expand, until code runs again. */
export class DebugVariables {
  readonly #link: InspectorLink;
  readonly #holders = new Map<number, VariableContainer>();
  #next = 1;

  constructor(link: InspectorLink) {
    this.#link = link;
  }

  clear(): void {
    this.#holders.clear();
    this.#link.call('Runtime.releaseObjectGroup', { objectGroup: heldGroup }).catch(() => {});
  }

  /** Registers a value that can be expanded; returns its reference. */
  hold(holder: VariableContainer): number {
    const reference = this.#next++;
    this.#holders.set(reference, holder);
    return reference;
  }

  /** @throws DebugProblem if the reference is from an earlier pause */
  holderOf(reference: number): VariableContainer {
    const holder = this.#holders.get(reference);
    if (holder) return holder;
    throw new DebugProblem('The code has continued, so these variables are out of date.');
  }

  /** Converts a value for the client. */
  told(value: Runtime.RemoteObject, isWhole = false): DapValue {
    const text = { value: formatRemoteObject(value, isWhole), type: typeOf(value) };
    if (!hasParts(value)) return { ...text, variablesReference: 0 };
    const length = lengthOf(value);
    const variablesReference = this.hold(this.#objectHolder(value, length));
    return length === undefined
      ? { ...text, variablesReference }
      : { ...text, variablesReference, indexedVariables: length, namedVariables: 1 };
  }

  /** Returns the parts of the value that a reference stands for. */
  async list(reference: number, wanted: Wanted): Promise<DapVariable[]> {
    const parts = await this.holderOf(reference).parts(wanted);
    return parts.map((part) => this.partOf(part));
  }

  partOf({ name, value, hint }: ChildVariable): DapVariable {
    const said = typeof value === 'string' ? { value, type: '', variablesReference: 0 } : this.told(value);
    return { name, ...said, ...(hint && { presentationHint: hint }) };
  }

  #objectHolder(object: Runtime.RemoteObject & { objectId: string }, length: number | undefined): VariableContainer {
    const { objectId } = object;
    return {
      parts: async ({ filter, start, count }) => {
        const indexed =
          length === undefined || filter === 'named' ? [] : await this.#indexed(objectId, { start, count });
        const isCut = filter === undefined && length !== undefined && length > start + count;
        const rest: ChildVariable[] = isCut ? [{ name: '…', value: `${length - start - count} more` }] : [];
        const named = filter === 'indexed' ? [] : await this.#named(objectId, length !== undefined);
        return [...indexed, ...rest, ...named];
      },
      set: (name, value) => this.#assign(objectId, name, value),
    };
  }

  /** Returns elements of an array. Reads only the requested part, because there may be millions. */
  async #indexed(objectId: string, { start, count }: { start: number; count: number }): Promise<ChildVariable[]> {
    const { result } = await this.#link.call('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration:
        'function (start, end) { const part = Object.create(null); ' +
        'for (let at = start; at < end; at++) if (at in this) part[at] = this[at]; return part; }',
      arguments: [{ value: start }, { value: Math.min(start + count, start + 10_000) }],
      objectGroup: heldGroup,
      silent: true,
    });
    return result.objectId === undefined ? [] : this.#own(result.objectId);
  }

  async #named(objectId: string, isArray: boolean): Promise<ChildVariable[]> {
    const parts = await this.#own(objectId, isArray);
    if (parts.length <= maxProperties) return parts;
    const rest = { name: '…', value: `${parts.length - maxProperties} more` };
    return [...parts.slice(0, maxProperties), rest];
  }

  async #own(objectId: string, nonIndexedPropertiesOnly = false): Promise<ChildVariable[]> {
    const {
      result,
      internalProperties = [],
      privateProperties = [],
    } = await this.#link.call('Runtime.getProperties', {
      objectId,
      ownProperties: true,
      generatePreview: true,
      nonIndexedPropertiesOnly,
    });
    return [
      ...[...result, ...privateProperties].flatMap(propertyPart),
      ...internalProperties
        .filter(({ name, value }) => value !== undefined && shownInternals.has(name))
        .map(({ name, value }): ChildVariable => ({
          name,
          value: value ?? '',
          hint: { kind: 'virtual', attributes: ['readOnly'] },
        })),
    ];
  }

  async #assign(objectId: string, name: string, value: Runtime.CallArgument): Promise<void> {
    const { exceptionDetails } = await this.#link.call('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: 'function (name, value) { "use strict"; this[name] = value; }',
      arguments: [{ value: name }, value],
      silent: true,
    });
    if (exceptionDetails)
      throw new DebugProblem(`Can't set "${name}": ${exceptionDetails.exception?.description ?? ''}`);
  }
}

const maxProperties = 1000;
/** Internal properties of an object that are worth showing. */
const shownInternals: ReadonlySet<string> = new Set([
  '[[Entries]]',
  '[[PromiseState]]',
  '[[PromiseResult]]',
  '[[Target]]',
  '[[TargetFunction]]',
  '[[PrimitiveValue]]',
  '[[Prototype]]',
]);

type Property = Pick<Runtime.PropertyDescriptor, 'name' | 'value' | 'get'>;

/** Converts a property without running code: a getter is listed but not called. */
function propertyPart({ name, value, get }: Property): ChildVariable[] {
  if (value) return [{ name, value }];
  return get && get.type !== 'undefined' ? [{ name, value: '(getter)', hint: { attributes: ['readOnly'] } }] : [];
}
