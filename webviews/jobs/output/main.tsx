import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import type { ActivationFunction } from 'vscode-notebook-renderer';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { isActive, jobTableText, rowsText, runnerLabels } from '#shared/jobs/jobLabels.ts';
import { isJobOutputNews, type JobOutputAction, type JobOutputRequest, readJobOutput } from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { disposer } from '../../parts/outputLifecycle.ts';
import partsCss from '../parts/job.css';
import { type Act, Actions, actionsOf } from '../parts/jobActions.tsx';
import { Progress } from '../parts/jobProgress.tsx';
import outputCss from './jobOutput.css';

/** Limit of the listed failed rows, enough to show the error; the job page lists more. */
const maxSamples = 3;

type JobOutputProps = {
  readonly job: JobView;
  /** Handles a button; undefined without an editor, for example in an exported notebook. */
  readonly act: Act<JobOutputAction> | undefined;
};

/** A job in the output of the cell that started it: progress, problems and actions. */
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
        {runnerLabels[job.runner]} · {job.id}
      </p>
    </section>
  );
}

/** The actions of a job without "Copy as Code", because the cell above already contains the code. */
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

/** A mounted output, with the latest state of its job. */
type Mounted = { readonly root: Root; readonly element: HTMLElement; job: JobView };

/**
 * Renders jobs in the outputs of cells. The output contains the state that the kernel sent. The editor then sends the
 * current state, so an output stays up to date even if its cell was interrupted or its notebook was reopened.
 */
export const activate: ActivationFunction = (context) => {
  const mounted = new Map<string, Mounted>();
  let styles: CSSStyleSheet | undefined;
  const say = (request: JobOutputRequest): void => context.postMessage?.(request);
  // An exported notebook has no editor that handles buttons, so show no buttons.
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
      // Reuse the element: a running job changes ten times a second, and a redraw must not replace a button that the
      // user is about to press.
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
      // Render synchronously: an output without height loses its distance to the cell's edge.
      flushSync(() => draw(output));
      // Don't request the state of a job that has ended. If the user resumes an ended job, the editor sends its state
      // without a request.
      if (isActive(job) || job.state === 'interrupted') say({ kind: 'look', id: job.id });
    },
    disposeOutputItem: disposer(mounted, dispose),
  };
};

/** Returns the output's value, or undefined if it is not JSON. */
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
