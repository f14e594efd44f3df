// Removal of a record: a button that asks once, deletes, and says so.
import { useMutation } from '@tanstack/react-query';
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
  /** Discards the record and leads to a page that is still there. */
  readonly onRemoved: () => unknown;
}

export function RemoveRecord({ name, note, label, send, onRemoved }: RemoveRecordProps) {
  const words = useWords(editingWords);
  const [isAsked, setAsked] = useState(false);
  const remove = useMutation({
    mutationFn: send,
    onSuccess: () => {
      toast(words.removed(name));
      return onRemoved();
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
