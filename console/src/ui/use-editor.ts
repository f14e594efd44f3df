// Editor of a record: its draft, how it is saved, and what the platform said of it.
import { notifyManager, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Refusal } from '../api/refusal.ts';
import { useWords } from '../words/language.tsx';
import { editingWords } from './editing-words.ts';
import { toast } from './toasts.tsx';
import { type Draft, type DraftOptions, useDraft } from './use-draft.ts';
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
