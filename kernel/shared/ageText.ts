/** How often an age on the screen is told anew, in milliseconds: it is told in minutes. */
export const ageEvery = 30_000;

/**
 * How long ago something was, as short as a status bar wants it: `now`, `3 min`, `2 h`, `5 d`.
 * @param at ISO 8601, or milliseconds since 1970, as `now` is
 */
export function ageText(at: string | number, now: number): string {
  const minutes = Math.floor((now - (typeof at === 'number' ? at : Date.parse(at))) / 60_000);
  if (!(minutes >= 1)) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** The same as part of a sentence: `just now`, `3 min ago`. */
export const agoText = (at: string | number, now: number): string => {
  const age = ageText(at, now);
  return age === 'now' ? 'just now' : `${age} ago`;
};
