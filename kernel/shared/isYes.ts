/** Whether what somebody has typed says yes; nothing and everything else says no. */
export const isYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer);
