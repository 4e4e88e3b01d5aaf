// The bundle of what most tables never show: the chips and boxes of filters, the bars of a search by vector and of a
// comparison, and the review of a view file.

import css from './tableParts.css';
import { createStyles } from '../grid/lazyPart.ts';

export { setTimeZone } from '../grid/timeZone.ts';
export { ChangesBar } from './changesBar.ts';
export { chipsOf, FilterChips } from './filterChips.ts';
export { openFilterPopup } from './filters/filterPopup.ts';
export { NearestBar } from './nearestBar.ts';
export { openNearestDialog } from './nearestDialog.ts';
export { SearchMarks } from './searchMarks.ts';
export { reviewElement } from './viewReview.ts';

export const adoptStyles = createStyles(css);
