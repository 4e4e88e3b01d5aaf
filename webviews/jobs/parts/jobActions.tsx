import type { JobAction } from '#shared/jobs/jobPageMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

export type Act<A extends string = JobAction> = (action: A) => void;

type ActionsProps<A extends string> = {
  readonly actions: readonly { readonly action: A; readonly label: string; readonly isDisabled?: boolean }[];
  readonly act: Act<A>;
};

/** A row of buttons. The first button is the primary button, unless it cancels the job. */
export function Actions<A extends string>({ actions, act }: ActionsProps<A>) {
  return (
    <div className="job-actions">
      {actions.map(({ action, label, isDisabled = false }, nth) => (
        <button
          key={action}
          className={nth === 0 && action !== 'cancel' ? 'job-button' : 'job-button job-secondary'}
          disabled={isDisabled}
          onClick={() => act(action)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** Returns the available actions of a job, the most likely first. */
export function actionsOf({ can, state }: JobView): { action: JobAction; label: string }[] {
  return [
    ...(can.resume ? [{ action: 'resume' as const, label: 'Resume' }] : []),
    ...(can.retry ? [{ action: 'retry' as const, label: 'Retry Failed Rows' }] : []),
    ...(state === 'succeeded' ? [{ action: 'table' as const, label: 'Open Table' }] : []),
    ...(can.cancel ? [{ action: 'cancel' as const, label: 'Cancel' }] : []),
    ...(state === 'succeeded' ? [] : [{ action: 'table' as const, label: 'Open Table' }]),
    { action: 'code', label: 'Copy as Code' },
  ];
}
