// Drafts: edits that are not saved are kept by the browser until they are saved or discarded.
import { useState } from 'react';
import { draftPlace } from '../session/draft-places.ts';

interface Kept<T> {
  readonly value: T;
  /** Version of the record that the edits began with. */
  readonly version: number;
}

export interface Draft<T> {
  readonly value: T;
  readonly isChanged: boolean;
  /** The edits were there when the page was opened. */
  readonly isRestored: boolean;
  /** The record has another version than the one that was edited. */
  readonly isStale: boolean;
  /** False when the browser has no room for the edits. */
  readonly isKept: boolean;
  /** Version of the record that the edits began with. */
  readonly version: number;
  readonly change: (value: T) => void;
  /** Back to what is saved. */
  readonly discard: () => void;
  /** After an own save at the version `from`: edits that it did not save continue there. */
  readonly settle: (from: number, saved: T, version: number) => void;
}

export interface DraftOptions {
  /** Version of the record that is saved; none for one that is not created yet. */
  readonly version?: number;
  /** Edits with passwords end with the tab; others are there when the browser is opened again. */
  readonly isSecret?: boolean;
}

interface State<T> {
  readonly place: string;
  readonly kept: Kept<T> | undefined;
  readonly isRestored: boolean;
  readonly isStored: boolean;
}

/** `key` names the record; `saved` is what the platform has of it, as the form shows it. */
export function useDraft<T>(key: string, saved: T, options: DraftOptions = {}): Draft<T> {
  const { version = 0, isSecret = false } = options;
  const place = draftPlace(key);
  const storage = isSecret ? sessionStorage : localStorage;
  const [state, setState] = useState(() => stateOf(storage, place, saved));
  const current = state.place === place ? state : stateOf(storage, place, saved);
  if (current !== state) setState(current);
  const { isRestored, isStored } = current;
  const kept = isSame(current.kept?.value, saved) ? undefined : current.kept;
  const keep = (next: Kept<T> | undefined) =>
    setState({
      place,
      kept: next,
      isRestored: next !== undefined && isRestored,
      isStored: store(storage, place, next),
    });
  return {
    value: kept?.value ?? saved,
    isChanged: kept !== undefined,
    isRestored,
    isStale: kept !== undefined && kept.version !== version,
    isKept: isStored,
    version: kept?.version ?? version,
    change: (value) =>
      keep(isSame(value, saved) ? undefined : { value, version: kept?.version ?? version }),
    discard: () => keep(undefined),
    settle(from, record, next) {
      if (kept === undefined || isSame(kept.value, record)) keep(undefined);
      else if (kept.version === from) keep({ ...kept, version: next });
    },
  };
}

function stateOf<T>(storage: Storage, place: string, saved: T): State<T> {
  const kept = read(storage, place, saved);
  return { place, kept, isRestored: kept !== undefined, isStored: true };
}

/** Edits that another version of the console kept in another form are ignored. */
function read<T>(storage: Storage, place: string, saved: T): Kept<T> | undefined {
  const content = storage.getItem(place);
  if (content === null) return undefined;
  const { value, version } = JSON.parse(content) as Partial<Kept<T>>;
  if (typeof version !== 'number' || !isFormOf(saved, value)) return undefined;
  return { value: value as T, version };
}

/** Edits have every member of what is saved. */
function isFormOf(saved: unknown, value: unknown): boolean {
  if (typeof saved !== 'object' || saved === null) return typeof value === typeof saved;
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(saved).every((member) => member in value);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Returns false when the browser refuses it. */
function store(storage: Storage, place: string, kept: unknown): boolean {
  try {
    if (kept === undefined) storage.removeItem(place);
    else storage.setItem(place, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}
