import type { TimeZoneChoice } from '#shared/format/times.ts';

let chosen: TimeZoneChoice = 'column';

/** Sets the time zone in which values are shown from now on. Values that were formatted before stay. */
export const setTimeZone = (choice: TimeZoneChoice): void => {
  chosen = choice;
};

/** Returns the time zone in which the page shows timestamps. */
export const shownTimeZone = (): TimeZoneChoice => chosen;
