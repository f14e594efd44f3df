// Drafts: edits that are not saved survive a reload and the way to another page in this tab.
import { useEffect, useState } from 'react';

export interface Draft<T> {
  readonly value: T;
  readonly change: (value: T) => void;
  readonly isChanged: boolean;
  /** Back to what is saved. */
  readonly discard: () => void;
}

/** `saved` is what the platform has; `key` names it together with its version. */
export function useDraft<T>(key: string, saved: T): Draft<T> {
  const place = `draft ${key}`;
  const [edited, setEdited] = useState(() => kept<T>(place));
  const isChanged = edited !== undefined && JSON.stringify(edited) !== JSON.stringify(saved);
  useEffect(() => {
    if (isChanged) sessionStorage.setItem(place, JSON.stringify(edited));
    else sessionStorage.removeItem(place);
  }, [place, edited, isChanged]);
  useEffect(() => {
    if (!isChanged) return undefined;
    // The storage ends with the tab, so that closing it asks first.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);
  return {
    value: edited ?? saved,
    change: setEdited,
    isChanged,
    discard: () => setEdited(undefined),
  };
}

/** Whether this tab keeps edits under the key. */
export function hasDraft(key: string): boolean {
  return sessionStorage.getItem(`draft ${key}`) !== null;
}

function kept<T>(place: string): T | undefined {
  const stored = sessionStorage.getItem(place);
  return stored === null ? undefined : (JSON.parse(stored) as T);
}
