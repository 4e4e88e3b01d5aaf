import { useLayoutEffect, useRef } from 'react';

type LogProps = { readonly lines: readonly string[]; readonly isCut: boolean; readonly isActive: boolean };

/** How near to its end a log counts as being looked at there, in pixels. */
const nearEnd = 24;

/** The end of the log. It stays at its end while a person looks there, and where it is while they read further up. */
export function LogLines({ lines, isCut, isActive }: LogProps) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const text = lines.join('\n');
  useLayoutEffect(() => {
    // Drawn once a second besides, which moves nothing.
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <section aria-labelledby="job-log">
      <h2 id="job-log">Log</h2>
      {isCut && <p className="job-quiet">The last {lines.length.toLocaleString('en-US')} lines.</p>}
      {lines.length === 0 ? (
        <p className="job-quiet">{isActive ? 'Nothing was printed yet.' : 'Nothing was printed.'}</p>
      ) : (
        <pre
          ref={box}
          className="job-log"
          tabIndex={0}
          role="log"
          // It may grow by a thousand lines a second, which nobody wants read aloud.
          aria-live="off"
          aria-labelledby="job-log"
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isAtEnd.current = scrollTop + clientHeight >= scrollHeight - nearEnd;
          }}
        >
          {text}
        </pre>
      )}
    </section>
  );
}
