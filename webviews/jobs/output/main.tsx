import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import type { ActivationFunction } from 'vscode-notebook-renderer';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { isActive, jobTableText, rowsText, runnerWords } from '#shared/jobs/jobLabels.ts';
import { isJobOutputNews, type JobOutputAction, type JobOutputRequest, readJobOutput } from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { disposer } from '../../parts/shownOutputs.ts';
import partsCss from '../parts/job.css';
import { type Act, Actions, actionsOf } from '../parts/jobActions.tsx';
import { Progress } from '../parts/jobProgress.tsx';
import outputCss from './jobOutput.css';

/** Rows that failed, as many as say what is wrong; the page of the job has the others. */
const maxSamples = 3;

type JobOutputProps = {
  readonly job: JobView;
  /** What a button does; not there where nobody listens, in an exported notebook for instance. */
  readonly act: Act<JobOutputAction> | undefined;
};

/** A job in the output of the cell that began it: how far it is, what is in its way, and what can be done. */
function JobOutputView({ job, act }: JobOutputProps) {
  const { column, table, failure, bottleneck, errors } = job;
  return (
    <section className="job-output" aria-label={`Backfill of ${column}`}>
      <h4>
        {jobTableText(table)}.{column}
      </h4>
      <Progress job={job} />
      {failure ? (
        <div className="job-note job-failure">
          {failure.message}
          {failure.hint !== '' && !failure.message.includes(failure.hint) && ` ${failure.hint}`}
        </div>
      ) : (
        <p>{job.sentence}</p>
      )}
      {bottleneck !== undefined && isActive(job) && (
        <p className="job-note job-warning">
          <strong>Bottleneck: </strong>
          {bottleneck}
        </p>
      )}
      {errors.count > 0 && <FailedRows count={errors.count} samples={errors.samples} />}
      {act && <Actions actions={[...likeliest(job), { action: 'open', label: 'Show Job' }]} act={act} />}
      <p className="job-quiet">
        {runnerWords[job.runner]} · {job.id}
      </p>
    </section>
  );
}

/** The cell above is the code. */
const likeliest = (job: JobView) => actionsOf(job).filter(({ action }) => action !== 'code');

function FailedRows({ count, samples }: { count: number; samples: readonly RowError[] }) {
  return (
    <>
      <p>{rowsText(count)} failed, for example:</p>
      <ul className="job-failed-rows">
        {samples.slice(0, maxSamples).map(({ fragment, row, message }) => (
          <li key={`${fragment} ${row}`}>
            row {row} of fragment {fragment}: {message}
          </li>
        ))}
      </ul>
    </>
  );
}

/** One output on the screen, with the newest that is known of its job. */
type Mounted = { readonly root: Root; readonly element: HTMLElement; job: JobView };

/**
 * Draws jobs in the outputs of cells. What the kernel says is how a job was; the editor is asked how it is, so that an output
 * whose cell was interrupted, or whose notebook was opened again, goes on.
 */
export const activate: ActivationFunction = (context) => {
  const mounted = new Map<string, Mounted>();
  let styles: CSSStyleSheet | undefined;
  const say = (request: JobOutputRequest): void => context.postMessage?.(request);
  // Nobody listens to an exported notebook: it has no buttons.
  const isHeard = context.postMessage !== undefined;

  const draw = ({ root, job: { id }, job }: Mounted): void => {
    const act = isHeard ? (action: JobOutputAction) => say({ kind: 'act', id, action }) : undefined;
    root.render(<JobOutputView job={job} act={act} />);
  };
  const dispose = (id: string): void => {
    mounted.get(id)?.root.unmount();
    mounted.delete(id);
  };

  context.onDidReceiveMessage?.((news: unknown) => {
    if (!isJobOutputNews(news)) return;
    for (const output of mounted.values()) {
      const now = news.jobs.find(({ id }) => id === output.job.id);
      if (!now) continue;
      output.job = now;
      draw(output);
    }
  });

  return {
    renderOutputItem(item, element) {
      const job = readJobOutput(jsonOf(() => item.json()));
      const there = mounted.get(item.id);
      // A running job changes ten times a second; whoever is about to press a button keeps it.
      if (job && there?.element === element && there.job.id === job.id) {
        there.job = job;
        return draw(there);
      }
      dispose(item.id);
      styles ??= styleSheet();
      const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [styles];
      const place = document.createElement('div');
      shadow.replaceChildren(place);
      if (!job) {
        place.textContent = "Can't read the job in this output. Run the cell again to recreate the output.";
        return;
      }
      const output = { root: createRoot(place), element, job };
      mounted.set(item.id, output);
      // At once: an output without a height loses its distance to the cell's edge.
      flushSync(() => draw(output));
      // One that has ended does not change any more, unless it is taken up again, which the editor tells.
      if (isActive(job) || job.state === 'interrupted') say({ kind: 'look', id: job.id });
    },
    disposeOutputItem: disposer(mounted, dispose),
  };
};

/** What a notebook holds under our name, which need not be JSON. */
function jsonOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${partsCss}\n${outputCss}`);
  return sheet;
}
