// Removal of a custom field: with the values of devices only after a second question.
import { useQueryClient } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import { Refusal } from '../../../api/refusal.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import { settingsWords } from '../settings-words.ts';
import type { CustomField } from './fields.tsx';
import { ActionFailure } from '../../../parts/action-failure.tsx';
import { useAction } from '../../../parts/use-action.ts';

interface RemoveFieldProps {
  readonly field: CustomField;
  readonly close: () => void;
}

export function RemoveField({ field: { id, name }, close }: RemoveFieldProps) {
  const words = useWords(settingsWords);
  const client = useQueryClient();
  const remove = useAction({
    mutationFn: (force: boolean) => {
      const params = { path: { id }, query: { force } };
      return ask(platform.DELETE('/v3/custom-fields/meta/{id}', { params }));
    },
    onSuccess: async () => {
      toast(words.removed(name));
      close();
      await client.invalidateQueries({ queryKey: ['custom-fields'] });
      await client.invalidateQueries({ queryKey: ['devices'] });
    },
  });
  const { error } = remove;
  const isInUse = error instanceof Refusal && error.status === 409;
  return (
    <Dialog
      title={words.removeTitle(name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate(isInUse)}>
            {isInUse ? words.deleteWithValues : words.delete}
          </Button>
        </>
      }
    >
      {isInUse ? (
        <>
          <p role="alert">{error.message}</p>
          <p>{words.fieldInUse}</p>
        </>
      ) : (
        <p>{words.fieldRemoveNote}</p>
      )}
      <ActionFailure error={isInUse ? null : error} />
    </Dialog>
  );
}
