// Load failure: what stands in place of a screen or a part that could not be loaded, until it can.
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { use, useEffect, useState } from 'react';
import { connection, isAnswering } from '../api/connection.ts';
import { markOf, MissingCode } from '../api/missing-code.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import styles from './load-failure.module.css';
import { Page, PathPlace } from './page.tsx';
import states from './states.module.css';
import { Failure } from './states.tsx';
import { loadFailureWords } from './load-failure-words.ts';

/** In place of a screen; the shell around it stays. */
export function ScreenFailure(props: ErrorComponentProps) {
  const words = useWords(loadFailureWords);
  const page = (
    <Page title={words.notLoaded} name={words.notLoaded} path={[words.notLoaded]}>
      <PartOfScreenFailure {...props} />
    </Page>
  );
  return use(PathPlace) === undefined ? <main>{page}</main> : page;
}

/** In place of a part of a screen that has its title already. */
export function PartOfScreenFailure({ error, reset }: ErrorComponentProps) {
  return error instanceof MissingCode ? (
    <MissingScreen error={error} />
  ) : (
    <Failed error={error as Error} reset={reset} />
  );
}

function MissingScreen({ error }: { readonly error: MissingCode }) {
  const words = useWords(loadFailureWords);
  const isStuck = useReload(error);
  return (
    <div className={states['state']} role="alert">
      <strong>{words.missing}</strong>
      <span>{isStuck ? words.missingStill : words.missingNote}</span>
      <Button onClick={() => location.reload()}>{words.reload}</Button>
    </div>
  );
}

function Failed({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  useReturn(again);
  return <Failure error={error} retry={again} />;
}

/** In place of a part that opens over the page, or is small in it. */
export function MissingPart({ error }: { readonly error: MissingCode }) {
  const words = useWords(loadFailureWords);
  const isStuck = useReload(error);
  return (
    <div className={styles['part']} role="alert">
      <span>
        {words.missing} {isStuck ? words.missingStill : words.missingNote}
      </span>
      <Button onClick={() => location.reload()}>{words.reload}</Button>
    </div>
  );
}

/** Reloads the page once when the platform answers; returns whether that has not helped. */
function useReload(error: MissingCode): boolean {
  const [isStuck, setStuck] = useState(false);
  const again = async () => setStuck(!(await reloadFor(error)));
  const reload = () => void again();
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for a failure
  useEffect(reload, [error]);
  useReturn(reload);
  return isStuck;
}

function useReturn(listener: () => void): void {
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the listener does the same at any time
  useEffect(() => connection.onReturn(listener), []);
}

/** Several parts can be missing at once: one reload is for all of them. */
let isReloading = false;

/**
 * Reloads the page at the same address when the platform answers: browsers keep the failure of a
 * chunk, and a newer console has other chunks. Resolves to false when the part is missing even so.
 */
async function reloadFor({ part }: MissingCode): Promise<boolean> {
  if (!(await isAnswering())) {
    connection.lost();
    return true;
  }
  if (sessionStorage.getItem(markOf(part)) !== null) return false;
  sessionStorage.setItem(markOf(part), 'yes');
  if (!isReloading) location.reload();
  isReloading = true;
  return true;
}
