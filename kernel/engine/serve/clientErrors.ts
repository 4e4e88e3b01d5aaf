import { tmpdir } from 'node:os';
import { isRootError } from '#catalog/root.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { withoutNamespace, withoutPath } from '#engine/errors/pathText.ts';
import { jobOperations } from '#engine/server/serverJobs.ts';
import { prefixHeaders, type Caller } from './authorizer.ts';

/**
 * Returns an error without paths of the server, because a client can't use such paths and need not know them. If a
 * namespace is the root for the client, objects are named as in that namespace. Returns the same error if nothing has
 * to be changed.
 * @param identifier the object that the URL names, for display
 */
export function clientError(
  error: CatalogError,
  caller: Caller | undefined,
  identifier: string | undefined,
): CatalogError {
  if (!caller) return hidden(error, [tmpdir()]);
  if (isRootError(error)) return rootError(error, caller);
  return hidden(error, [caller.database.root, tmpdir()], { path: caller.namespacePath, identifier });
}

/**
 * Returns the error for an operation on jobs if the server runs none; otherwise `undefined`. The directory refuses such
 * an operation too, but its clients do not know that their catalog is a directory.
 */
export function jobsRefused(error: CatalogError): CatalogError | undefined {
  const { kind, operation, identifier } = error;
  const isAboutJobs = [...jobOperations].some((one) => one === operation);
  if (kind !== 'Unsupported' || !isAboutJobs) return undefined;
  const hint = 'Ask its administrator to start it with --jobs.';
  return new CatalogError('Unsupported', 'This server runs no jobs.', hint, { operation, identifier, cause: error });
}

/** The error of every request whose root namespace does not exist. */
export function rootNamespaceMissing({ key, basePath }: Caller, cause: CatalogError): CatalogError {
  const [what, hint] =
    basePath.length > 0
      ? [`Namespace "${displayPath(basePath)}" does not exist.`, 'Correct the base path of the URL ("/at/…").']
      : [
          `Namespace "${displayPath(key.namespacePath)}" does not exist: the key "${key.name}" opens only this namespace.`,
          'Create it with another key, or use another key.',
        ];
  return new CatalogError('NamespaceNotFound', what, hint, { operation: cause.operation, cause });
}

function rootError(cause: CatalogError, { database: { name }, prefix }: Caller): CatalogError {
  const { operation, identifier } = cause;
  const about = { operation, identifier, cause };
  // The folder of the prefix is missing or a file. The reason can't be the root, because the root was checked when the
  // server started.
  if (prefix !== undefined && cause.kind === 'InvalidInput') {
    return new CatalogError(
      'NamespaceNotFound',
      `The database "${name}" has no folder "${prefix}".`,
      `Correct ${prefixHeaders[0]}, or leave it out.`,
      about,
    );
  }
  return new CatalogError(
    'ServiceUnavailable',
    `Can't open the database "${name}": the server can't read its folder.`,
    'Tell the administrator of the server, whose log says why.',
    about,
  );
}

/** A namespace that is the root for the client, and the object in it that the URL names. */
type View = { readonly path: NamespacePath; readonly identifier: string | undefined };

/**
 * Removes the given paths and the names of the root namespace from the message and the hint. An internal error can
 * contain any path, so all paths are removed from it.
 */
function hidden(error: CatalogError, paths: readonly string[], view?: View): CatalogError {
  const clean = (text: string): string => {
    const without = withoutNamespace(paths.reduce(withoutPath, text), view?.path ?? []);
    return error.kind === 'Internal' ? without.replaceAll(anyPath, '…') : without;
  };
  const { error: what, detail, instance } = error.toJSON();
  const [cleanWhat, cleanHint] = [clean(what), clean(detail)];
  // The call that failed named the object by its whole path.
  const identifier = view && view.path.length > 0 ? view.identifier : instance;
  if (cleanWhat === what && cleanHint === detail && identifier === instance) return error;
  const { kind, status, operation } = error;
  return new CatalogError(kind, cleanWhat, cleanHint, { status, operation, identifier, cause: error });
}

/** An absolute path of two or more segments that is not part of a URL or of another path. */
const anyPath = /(?<![\w.:/\\-])(?:[A-Za-z]:)?[\\/][^\s"'`:,;()/\\]+[\\/][^\s"'`:,;()]*/g;
