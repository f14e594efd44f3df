// Removal of a record: a button that asks once, deletes, and says so.
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { editingWords } from './editing-words.ts';
import { toast } from './toasts.tsx';

interface RemoveRecordProps {
  /** Of the record, for the question and the message. */
  readonly name: string;
  /** What is lost with it. */
  readonly note: string;
  /** Instead of "Delete". */
  readonly label?: string;
  readonly send: () => Promise<unknown>;
  /** Drops the edits of the record. */
  readonly discard: () => void;
  /** Keys of the lists that show the record. */
  readonly lists: readonly QueryKey[];
  /** A page that is still there. */
  readonly next: Pick<LinkProps, 'to' | 'params'>;
}

export function RemoveRecord(props: RemoveRecordProps) {
  const { name, note, label, send, discard, lists, next } = props;
  const words = useWords(editingWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  const remove = useMutation({
    mutationFn: send,
    onSuccess: () => {
      toast(words.removed(name));
      discard();
      for (const queryKey of lists) void known.invalidateQueries({ queryKey });
      return navigate({ ...next, ignoreBlocker: true });
    },
  });
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        {label ?? words.remove}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={words.removeTitle(name)}
          note={note}
          confirmLabel={label ?? words.remove}
          cancelLabel={words.cancel}
          isBusy={remove.isPending}
          error={remove.error}
          confirm={() => remove.mutate()}
          close={() => {
            setAsked(false);
            remove.reset();
          }}
        />
      )}
    </>
  );
}
