import { checkRefName } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import { checkOptions } from './options.ts';
import { given } from '#shared/records.ts';
import { about, ask, checkWritable, everyPage, onBranch, type RestTarget } from './restTarget.ts';
import { checkCount, checkText } from './tableArguments.ts';
import type { Branches, BranchInfo, TagInfo, Tags } from './tagsBranches.ts';

/** Names of versions on a server ("ListTableTags", "CreateTableTag", …). */
export class RestTags implements Tags {
  readonly #target: RestTarget;

  constructor(target: RestTarget) {
    this.#target = target;
  }

  async list(options: CallOptions = {}): Promise<Map<string, TagInfo>> {
    checkOptions('tags.list', options, ['signal']);
    const tags = new Map<string, TagInfo>();
    await everyPage(this.#target, (pageToken) =>
      ask(this.#target, 'ListTableTags', { query: { page_token: pageToken } }, options, (reply) => {
        for (const [name, tag] of reply.entries('tags')) {
          const more = given({ manifestSize: tag.maybeCount('manifestSize'), branch: tag.maybeText('branch') });
          tags.set(name, { version: tag.count('version'), ...more });
        }
        return reply.maybeText('page_token');
      }),
    );
    return tags;
  }

  async getVersion(tag: string, options: CallOptions = {}): Promise<number> {
    return (await tagVersion(this.#target, tag, options)).version;
  }

  create(tag: string, version: number, options: CallOptions = {}): Promise<void> {
    return this.#set('CreateTableTag', 'tags.create', tag, version, options);
  }

  update(tag: string, version: number, options: CallOptions = {}): Promise<void> {
    return this.#set('UpdateTableTag', 'tags.update', tag, version, options);
  }

  async delete(tag: string, options: CallOptions = {}): Promise<void> {
    await about(this.#target, 'DeleteTableTag', () => {
      checkOptions('tags.delete', options, ['signal']);
      checkWritable(this.#target);
      const json = { tag: checkText('tags.delete', 'tag', tag) };
      return ask(this.#target, 'DeleteTableTag', { json }, options, () => undefined);
    });
  }

  async #set(
    operation: 'CreateTableTag' | 'UpdateTableTag',
    call: string,
    tag: string,
    version: number,
    options: CallOptions,
  ): Promise<void> {
    await about(this.#target, operation, () => {
      checkOptions(call, options, ['signal']);
      checkWritable(this.#target);
      // One that is there may have any name; what is made may not.
      if (operation === 'CreateTableTag') checkRefName('tag', tag);
      const json = { tag: checkText(call, 'tag', tag), version: checkCount(call, 'version', version) };
      return ask(this.#target, operation, { json: { ...json, ...onBranch(this.#target) } }, options, () => undefined);
    });
  }
}

/** The version that a tag names, and the branch where that is ("GetTableTagVersion"). */
export async function tagVersion(
  target: RestTarget,
  tag: string,
  options: CallOptions,
): Promise<{ version: number; branch: string | undefined }> {
  return about(target, 'GetTableTagVersion', () => {
    const json = { tag: checkText('tags.getVersion', 'tag', tag) };
    return ask(target, 'GetTableTagVersion', { json }, options, (reply) => ({
      version: reply.count('version'),
      branch: reply.maybeText('branch'),
    }));
  });
}

/** Lines of versions on a server ("ListTableBranches", "CreateTableBranch", "DeleteTableBranch"). */
export class RestBranches implements Branches {
  readonly #target: RestTarget;

  constructor(target: RestTarget) {
    this.#target = target;
  }

  async list(options: CallOptions = {}): Promise<Map<string, BranchInfo>> {
    checkOptions('branches.list', options, ['signal']);
    const branches = new Map<string, BranchInfo>();
    await everyPage(this.#target, (pageToken) =>
      ask(this.#target, 'ListTableBranches', { query: { page_token: pageToken } }, options, (reply) => {
        for (const [name, branch] of reply.entries('branches')) {
          const parentBranch = branch.maybeText('parentBranch');
          const seconds = branch.maybeCount('createAt');
          const manifestSize = branch.maybeCount('manifestSize');
          branches.set(name, {
            parentVersion: branch.count('parentVersion'),
            ...(parentBranch !== undefined && { parentBranch }),
            // Servers that do not know say 0.
            ...(seconds !== undefined && seconds > 0 && { created: new Date(seconds * 1000) }),
            ...(manifestSize !== undefined && { manifestSize }),
          });
        }
        return reply.maybeText('page_token');
      }),
    );
    return branches;
  }

  async create(
    branch: string,
    options: CallOptions & { fromBranch?: string | undefined; fromVersion?: number | undefined } = {},
  ): Promise<void> {
    await about(this.#target, 'CreateTableBranch', () => {
      checkOptions('branches.create', options, ['fromBranch', 'fromVersion', 'signal']);
      checkWritable(this.#target);
      const { fromBranch = this.#target.branch, fromVersion } = options;
      if (fromVersion !== undefined) checkCount('branches.create', 'fromVersion', fromVersion);
      checkRefName('branch', branch);
      const json = { name: branch, ...given({ from_branch: fromBranch, from_version: fromVersion }) };
      return ask(this.#target, 'CreateTableBranch', { json }, options, () => undefined);
    });
  }

  async delete(branch: string, options: CallOptions = {}): Promise<void> {
    await about(this.#target, 'DeleteTableBranch', () => {
      checkOptions('branches.delete', options, ['signal']);
      checkWritable(this.#target);
      const json = { name: checkText('branches.delete', 'branch', branch) };
      return ask(this.#target, 'DeleteTableBranch', { json }, options, () => undefined);
    });
  }
}
