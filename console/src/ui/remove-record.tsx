// Removal of a record on its page: a button, the question, and the page to show afterwards.
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Need } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { ConfirmDialog } from './dialog.tsx';
import { editingWords } from './editing-words.ts';
import { toast } from './toasts.tsx';
import { useAction } from './use-action.ts';

interface RemoveRecordProps
  extends Pick<RemoveDialogProps, 'name' | 'note' | 'label' | 'send' | 'lists'> {
  /** The permission of deleting it. */
  readonly needs: Need;
  /** Drops the edits of the record. */
  readonly discard: () => void;
  /** A page that is still there. */
  readonly next: Pick<LinkProps, 'to' | 'params'>;
}

export function RemoveRecord({ needs, discard, next, ...question }: RemoveRecordProps) {
  const words = useWords(editingWords);
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button needs={needs} look="danger" onClick={() => setAsked(true)}>
        {question.label ?? words.remove}
      </Button>
      {isAsked && (
        <RemoveDialog
          {...question}
          removed={() => {
            discard();
            void navigate({ ...next, ignoreBlocker: true });
          }}
          close={() => setAsked(false)}
        />
      )}
    </>
  );
}

// Remove dialog: asks once, deletes a record, says so, and shows why it was refused.

interface RemoveDialogProps {
  /** Of the record, for the question and the message. */
  readonly name: string;
  /** Instead of the question whether to delete it. */
  readonly title?: string;
  /** What is lost with it. */
  readonly note: string;
  /** Instead of "Delete". */
  readonly label?: string;
  /** Instead of saying that it is deleted. */
  readonly message?: string;
  readonly send: () => Promise<unknown>;
  /** Keys of the lists that show the record. */
  readonly lists: readonly QueryKey[];
  /** Called when it is deleted, before the lists are read again. */
  readonly removed?: () => void;
  readonly close: () => void;
}

export function RemoveDialog(props: RemoveDialogProps) {
  const { name, title, note, label, message, send, lists, removed, close } = props;
  const words = useWords(editingWords);
  const known = useQueryClient();
  const remove = useAction({
    mutationFn: send,
    onSuccess: () => {
      toast(message ?? words.removed(name));
      close();
      removed?.();
      for (const queryKey of lists) void known.invalidateQueries({ queryKey });
    },
  });
  return (
    <ConfirmDialog
      title={title ?? words.removeTitle(name)}
      note={note}
      confirmLabel={label ?? words.remove}
      cancelLabel={words.cancel}
      isBusy={remove.isPending}
      error={remove.error}
      confirm={() => remove.mutate()}
      close={close}
    />
  );
}
