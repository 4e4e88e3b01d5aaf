import type { JobAction } from '#shared/jobs/jobPageMessages.ts';

export type Act = (action: JobAction) => void;

/** Buttons beside each other; the first is what a person most likely wants, unless it ends something. */
export function Actions({
  actions,
  act,
}: {
  actions: readonly { readonly action: JobAction; readonly label: string; readonly isDisabled?: boolean }[];
  act: Act;
}) {
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
