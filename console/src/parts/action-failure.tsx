// Action failure: why what was asked for was refused, beside the button that asked for it.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { unmarkedIn } from '../api/field-faults.ts';
import { Refusal } from '../api/refusal.ts';
import { useWords } from '../words/language.tsx';
import styles from './action-failure.module.css';
import { partWords } from './part-words.ts';

/** Nothing without an error. Comes into view wherever it is; a fault that a field shows is not repeated. */
export function ActionFailure({ error }: { readonly error: Error | null }) {
  const words = useWords(partWords);
  const place = useRef<HTMLDivElement>(null);
  const unmarked = useUnmarked(error, place);
  useEffect(() => {
    if (error !== null) place.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  if (error === null) return null;
  const refusal = error instanceof Refusal ? error : undefined;
  return (
    <div ref={place} role="alert" className={styles['failure']}>
      <span>{unmarked ?? words.checkFields}</span>
      {refusal?.status === 403 && <span> {words.askOwner}</span>}
      {refusal?.requestId !== undefined && (
        <span className={styles['request']}>
          {words.request} {refusal.requestId}
        </span>
      )}
    </div>
  );
}

/** What no field says of the error. If fields say all of it, the first of them takes the focus. */
function useUnmarked(
  error: Error | null,
  place: RefObject<HTMLElement | null>,
): string | undefined {
  const [unmarked, setUnmarked] = useState(error?.message);
  // Before the page is painted, and after the fields have got their marks.
  useLayoutEffect(() => {
    if (error === null) return;
    const form = place.current?.closest('dialog') ?? document;
    const marks = [...form.querySelectorAll('[data-fault]')].map((one) => one.textContent);
    const left = unmarkedIn(error, marks);
    setUnmarked(left);
    if (left === undefined) form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error, place]);
  return unmarked;
}
