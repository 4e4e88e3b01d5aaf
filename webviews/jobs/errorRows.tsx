import { countText } from '#shared/formatNumber.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** Samples that are drawn; more of them say no more. */
const maxShown = 20;

/** The rows that the function threw for: where they are, what was said, and what it was given. */
export function ErrorRows({ errors: { count, samples } }: Pick<JobView, 'errors'>) {
  const shown = samples.slice(0, maxShown);
  return (
    <section aria-labelledby="job-errors">
      <h2 id="job-errors">Failed rows</h2>
      {shown.length === 0 ? (
        <p className="job-quiet">What was said of them comes with the end of their fragment.</p>
      ) : (
        <Samples shown={shown} count={count} />
      )}
    </section>
  );
}

function Samples({ shown, count }: { shown: readonly RowError[]; count: number }) {
  const inputs = [...new Set(shown.flatMap((one) => Object.keys(one.inputs)))];
  return (
    <>
      {shown.length < count && (
        <p className="job-quiet">
          {countText(shown.length)} of {countText(count)} as samples.
        </p>
      )}
      <div className="job-scroll" tabIndex={0} role="region" aria-label="Samples of failed rows">
        <table>
          <thead>
            <tr>
              <th scope="col">Fragment</th>
              <th scope="col">Row</th>
              <th scope="col">Error</th>
              {inputs.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <Sample key={`${one.fragment} ${one.row}`} error={one} inputs={inputs} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Sample({ error, inputs }: { error: RowError; inputs: readonly string[] }) {
  return (
    <tr>
      <td className="job-number">{countText(error.fragment)}</td>
      <td className="job-number">{countText(error.row)}</td>
      <td className="job-message">{error.message}</td>
      {inputs.map((name) => (
        <td key={name} className="job-code">
          {error.inputs[name] ?? ''}
        </td>
      ))}
    </tr>
  );
}
