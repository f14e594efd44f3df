// Editor of a record: its draft, how it is saved, and what the platform said of it.
import { notifyManager, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Refusal } from '../api/platform.ts';
import { draftPlace } from '../session/session.ts';
import { useWords } from '../words/language.tsx';
import { editingWords } from './editing-words.ts';
import { toast } from './toasts.tsx';
import { useAction } from './use-action.ts';

interface Versioned {
  readonly version: number;
}
type From = Partial<Versioned>;

interface EditorOptions<T, R extends Versioned> extends DraftOptions {
  /** Names the record among all drafts of this browser. */
  readonly key: string;
  /** What the platform has, as the form shows it. */
  readonly saved: T;
  /** Sends the edits; rejects with a Refusal. Only `from` may be overwritten; empty is any version. */
  readonly send: (value: T, from: From) => Promise<R>;
  /** Key of the record among the answers; none while it is not created. */
  readonly record?: QueryKey;
  /** Key of the lists that show the record. */
  readonly list: QueryKey;
  /** Leads to the new record. */
  readonly onSaved?: (record: R) => unknown;
  /** Said when it is saved. */
  readonly savedMessage?: (record: R) => string;
}

export interface Editor<T> extends Pick<Draft<T>, 'value' | 'isChanged' | 'isRestored' | 'isKept'> {
  readonly change: (value: T) => void;
  readonly discard: () => void;
  /** Someone else saved the record since the edits began. */
  readonly isStale: boolean;
  readonly isSaving: boolean;
  /** Saves the edits; over the work of others only when asked to. */
  readonly save: (isForced?: boolean) => void;
  /** What the platform said of the last try. */
  readonly error: Error | null;
  /** Key of the form: another one when the form must begin again. */
  readonly edition: string;
}

export function useEditor<T, R extends Versioned>(options: EditorOptions<T, R>): Editor<T> {
  const { key, saved, send, record: recordKey, version, isSecret = false } = options;
  const answers = useQueryClient();
  const words = useWords(editingWords);
  const draft = useDraft(key, saved, { ...(version === undefined ? {} : { version }), isSecret });
  const [discards, setDiscards] = useState(0);
  const saving = useAction({
    mutationFn: ({ value: sent, from }: { readonly value: T; readonly from: From }) =>
      send(sent, from),
    onSuccess(record, sent) {
      toast(options.savedMessage?.(record) ?? words.saved);
      // Together, so that what was saved before does not appear between the edits and the answer.
      return notifyManager.batch(() => {
        if (recordKey !== undefined) answers.setQueryData(recordKey, record);
        void answers.invalidateQueries({ queryKey: options.list });
        notifyManager.schedule(() =>
          version === undefined
            ? draft.discard()
            : draft.settle(draft.version, sent.value, record.version),
        );
        return options.onSaved?.(record);
      });
    },
    onError(error) {
      if (recordKey !== undefined && isStaleRefusal(error))
        void answers.invalidateQueries({ queryKey: recordKey });
    },
  });
  const { value, isChanged, isRestored, isKept, change } = draft;
  return {
    value,
    isChanged,
    isRestored,
    isKept,
    change,
    isStale: draft.isStale || isStaleRefusal(saving.error),
    isSaving: saving.isPending,
    error: isStaleRefusal(saving.error) ? null : saving.error,
    edition: `${discards} ${draft.version}`,
    save(isForced = false) {
      const from = isForced || version === undefined ? {} : { version: draft.version };
      if (!saving.isPending) saving.mutate({ value, from });
    },
    discard() {
      draft.discard();
      saving.reset();
      setDiscards(discards + 1);
    },
  };
}

/** The record was saved by someone else since it was read. */
export function isStaleRefusal(error: Error | null): boolean {
  return error instanceof Refusal && error.errorCode === '40901_STALE_VERSION';
}

// Drafts: edits that are not saved are kept by the browser until they are saved or discarded.

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

interface DraftOptions {
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

/** Edits that the editor of a record begins with, in place of what was kept. False without room. */
export function keepDraft(key: string, value: unknown): boolean {
  return store(localStorage, draftPlace(key), { value, version: 0 });
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
