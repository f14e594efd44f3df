// New custom logic: its name; the editor opens with a script that runs.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { TextField } from '../../../parts/field.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { bodyOf, newLogic } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';

interface NewLogicProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function NewLogic({ workspaceId, close }: NewLogicProps) {
  const words = useWords(logicWords);
  const { organizationId } = useAccount();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { save, isBusy, error } = useFormSave({
    send: () => {
      const body = { ...bodyOf(newLogic(name.trim(), description.trim())), organizationId };
      return ask(platform.POST('/v3/rules/custom', { body }));
    },
    refreshes: [['custom-logic']],
    message: (saved) => words.created(saved.name),
    open: ({ id: logicId }) =>
      navigate({
        to: '/w/$workspaceId/rules/logic/$logicId',
        params: { workspaceId, logicId },
      }),
  });
  return (
    <FormDialog
      title={words.add}
      submitLabel={words.create}
      submit={save}
      {...{ isBusy, error, close }}
    >
      <TextField
        label={words.name}
        value={name}
        required
        maxLength={255}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TextField
        label={words.description}
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
    </FormDialog>
  );
}
