import { tmpdir } from 'node:os';
import { isRootError } from '#catalog/root.ts';
import { CatalogError } from '#shared/errors.ts';
import { withoutPath } from '#engine/errors/pathText.ts';
import { prefixHeaders, type Caller } from './authorizer.ts';

/**
 * Returns an error without paths of the server, because a client can't use such paths and need not know them. Returns
 * the same error if it contains none.
 */
export function clientError(error: CatalogError, caller: Caller | undefined): CatalogError {
  if (isRootError(error)) return caller ? rootError(error, caller) : hidden(error, []);
  return hidden(error, caller ? [caller.database.root, tmpdir()] : [tmpdir()]);
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

/**
 * Removes the given paths from the message and the hint. An internal error can contain any path, so all paths are
 * removed from it.
 */
function hidden(error: CatalogError, paths: readonly string[]): CatalogError {
  const clean = (text: string): string => {
    const without = paths.reduce(withoutPath, text);
    return error.kind === 'Internal' ? without.replaceAll(anyPath, '…') : without;
  };
  const { error: what, detail, instance } = error.toJSON();
  const [cleanWhat, cleanHint] = [clean(what), clean(detail)];
  if (cleanWhat === what && cleanHint === detail) return error;
  const { kind, status, operation } = error;
  return new CatalogError(kind, cleanWhat, cleanHint, { status, operation, identifier: instance, cause: error });
}

/** An absolute path of two or more segments that is not part of a URL or of another path. */
const anyPath = /(?<![\w.:/\\-])(?:[A-Za-z]:)?[\\/][^\s"'`:,;()/\\]+[\\/][^\s"'`:,;()]*/g;
