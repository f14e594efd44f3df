// Action failure: why what was asked for was refused, beside the button that asked for it.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { unmarkedIn } from '../api/field-faults.ts';
import { Refusal } from '../api/platform.ts';
import { useWords } from '../words/language.tsx';
import styles from './action-failure.module.css';
import { partWords } from './part-words.ts';

/** Nothing without an error. Comes into view wherever it is; a fault that a field shows is not repeated. */
export function ActionFailure({ error }: { readonly error: Error | null }) {
  return error === null ? null : <Said error={error} />;
}

function Said({ error }: { readonly error: Error }) {
  const words = useWords(partWords);
  const place = useRef<HTMLDivElement>(null);
  const marks = useSyncExternalStore(watchPage, faultsOnPage);
  const unmarked = unmarkedIn(error, marks.split(separator));
  const marked = unmarked === undefined ? error : null;
  useEffect(() => {
    const form = place.current?.closest('dialog') ?? document;
    if (marked !== null) form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [marked]);
  const said = unmarked ?? words.checkFields;
  useEffect(() => {
    if (said !== '') place.current?.scrollIntoView({ block: 'nearest' });
  }, [said]);
  const refusal = error instanceof Refusal ? error : undefined;
  return (
    <div ref={place} role="alert" className={styles['failure']}>
      <span>{said}</span>
      {refusal?.status === 403 && <span> {words.askOwner}</span>}
      {refusal?.requestId !== undefined && (
        <span className={styles['request']}>
          {words.request} {refusal.requestId}
        </span>
      )}
    </div>
  );
}

const separator = '\n';

/** The page knows what its fields show; the form that failed does not. */
function faultsOnPage(): string {
  const marks = [...document.querySelectorAll('[data-fault]')];
  return marks.map((mark) => mark.textContent).join(separator);
}

function watchPage(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  return () => observer.disconnect();
}
