// New custom logic: its name; the editor opens with a script that runs.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Failure } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { bodyOf, newLogic } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

interface NewLogicProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function NewLogic({ workspaceId, close }: NewLogicProps) {
  const words = useWords(logicWords);
  const form = useId();
  const { organizationId } = useAccount();
  const known = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = useMutation({
    mutationFn: () => {
      const body = { ...bodyOf(newLogic(name.trim(), description.trim())), organizationId };
      return ask(platform.POST('/v3/rules/custom', { body }));
    },
    onSuccess: async ({ id, name: saved }) => {
      toast(words.created(saved));
      await known.invalidateQueries({ queryKey: ['custom-logic'] });
      const params = { workspaceId, logicId: id };
      await navigate({ to: '/w/$workspaceId/rules/logic/$logicId', params });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog
      title={words.add}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button type="submit" form={form} look="primary" disabled={create.isPending}>
            {words.create}
          </Button>
        </>
      }
    >
      <form id={form} className={styles['form']} onSubmit={submit}>
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
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}
