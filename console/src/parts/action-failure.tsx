// Action failure: why what was asked for was refused, beside the button that asked for it.
import { useEffect, useRef } from 'react';
import { Refusal } from '../api/refusal.ts';
import { useWords } from '../words/language.tsx';
import styles from './action-failure.module.css';
import { partWords } from './part-words.ts';

/** Nothing without an error. Comes into view wherever it is. */
export function ActionFailure({ error }: { readonly error: Error | null }) {
  const words = useWords(partWords);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error !== null) place.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  if (error === null) return null;
  const refusal = error instanceof Refusal ? error : undefined;
  return (
    <div ref={place} role="alert" className={styles['failure']}>
      <span>{error.message}</span>
      {refusal?.status === 403 && <span> {words.askOwner}</span>}
      {refusal?.requestId !== undefined && (
        <span className={styles['request']}>
          {words.request} {refusal.requestId}
        </span>
      )}
    </div>
  );
}
