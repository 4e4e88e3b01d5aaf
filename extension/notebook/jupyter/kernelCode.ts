import { CatalogError } from '#shared/errors.ts';
import { pageRows } from '#shared/mime.ts';

/** Maximum rows of a variable that a preview reads from a kernel, in pages of `pageRows`. */
const previewRows = 20 * pageRows;

/** The MIME type of the output that describes the table. The code below shows this output before the pages. */
export const previewMime = 'application/vnd.lance-catalog.preview+json';

const variable = /^[\p{L}_$][\p{L}\p{N}_$]*(\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u;

/** Returns the error message for an invalid variable name; `undefined` if the name is valid. */
export const variableProblem = (name: string): string | undefined =>
  variable.test(name) ? undefined : `"${name}" is not a valid variable name.`;

/**
 * Returns code that shows a table variable page by page, in the language of a kernel. The code adds no name to the
 * user's kernel, and reads a lazy value only as far as the preview needs.
 * @throws CatalogError InvalidInput (13) if `name` is not a variable name, Unsupported (0) for another language
 */
export function previewCode(language: string, name: string): string {
  const problem = variableProblem(name);
  if (problem) throw new CatalogError('InvalidInput', problem, 'Enter the name of a table in the notebook.');
  switch (language.toLowerCase()) {
    case 'python':
      return pythonCode(name);
    case 'typescript':
      return scriptCode(name, ': any');
    case 'javascript':
      return scriptCode(name, '');
    default:
      throw new CatalogError(
        'Unsupported',
        `Can't preview tables of a ${language} kernel.`,
        'Use a Python or TypeScript kernel.',
      );
  }
}

// `display` of the Lance TypeScript kernel accepts tables of any copy of apache-arrow and limits the bytes of one
// output. The variable is an argument, because a name inside the function may hide the variable. `options` has any type,
// because a kernel of an earlier version does not know `whole`.
const scriptCode = (name: string, anyType: string): string => `await (async (value${anyType}) => {
  const query = typeof value?.query === 'function' ? value.query() : value;
  const total = typeof value?.countRows === 'function' ? await value.countRows() : (value?.numRows ?? null);
  const table = typeof query?.toArrow === 'function' ? await query.limit(${previewRows}).toArrow() : query;
  if (typeof table?.slice !== 'function' || !table?.schema?.fields) throw new TypeError('${name} is not a table');
  const columns = table.schema.fields.map((field${anyType}) => ({ name: field.name, type: String(field.type), nullable: field.nullable === true }));
  const options${anyType} = { whole: true };
  display.mime({ '${previewMime}': { columns, total }, 'text/plain': '' });
  for (let start = 0; start < Math.min(table.numRows, ${previewRows}); start += ${pageRows}) await display(table.slice(start, start + ${pageRows}), options);
})(${name});`;

const pythonCode = (name: string): string => `
def _lance_catalog_preview(value):
    import base64
    import pyarrow as pa
    from IPython.display import display
    limit, page = ${previewRows}, ${pageRows}
    total = None
    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    elif isinstance(value, list):
        value = pa.Table.from_pylist(value)
    elif isinstance(value, dict):
        value = pa.Table.from_pydict(value)
    elif hasattr(value, "count_rows"):
        total = value.count_rows()
        value = value.head(limit)
    elif hasattr(value, "collect") and hasattr(value, "head"):
        value = value.head(limit).collect()
    if not isinstance(value, pa.Table) and hasattr(value, "shape") and hasattr(value, "head"):
        total = int(value.shape[0]) if total is None else total
        value = value.head(limit)
        value = value.to_arrow() if hasattr(value, "to_arrow") else pa.Table.from_pandas(value)
    if not isinstance(value, pa.Table) and hasattr(value, "__arrow_c_stream__"):
        value = pa.table(value)
    if not isinstance(value, pa.Table):
        raise TypeError("${name} is a " + type(value).__name__ + ", not a table")
    total = value.num_rows if total is None else total
    columns = [{"name": f.name, "type": str(f.type), "nullable": f.nullable} for f in value.schema]
    display({"${previewMime}": {"columns": columns, "total": total}, "text/plain": ""}, raw=True)
    for start in range(0, min(value.num_rows, limit), page):
        part = value.slice(start, page)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part)
        mime = "application/vnd.apache.arrow.stream"
        display(
            {mime: base64.b64encode(sink.getvalue()).decode(), "text/plain": ""},
            metadata={mime: {"total_rows": part.num_rows, "included_rows": part.num_rows}},
            raw=True,
        )

try:
    _lance_catalog_preview(${name})
finally:
    del _lance_catalog_preview
`;
