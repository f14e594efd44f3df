// Remove dialog: asks once, deletes a record, says so, and shows why it was refused.
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useWords } from '../words/language.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { editingWords } from './editing-words.ts';
import { toast } from './toasts.tsx';
import { useAction } from './use-action.ts';

export interface RemoveDialogProps {
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
