// New device type: its name and the code that it begins with; the editor opens on it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import styles from './device-types.module.css';
import { deviceTypesWords } from './device-types-words.ts';
import { type FirstCode, firstCode } from './first-code.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types');

export function NewType({ close }: { readonly close: () => void }) {
  const words = useWords(deviceTypesWords);
  const form = useId();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [begin, setBegin] = useState<FirstCode>('bytes');
  const create = useCreate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim(), description: description.trim(), begin });
  };
  return (
    <Dialog
      title={words.create}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="primary" type="submit" form={form} disabled={create.isPending}>
            {words.createIt}
          </Button>
        </>
      }
    >
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField
          label={words.name}
          value={name}
          required
          autoFocus
          maxLength={255}
          onChange={({ target }) => setName(target.value)}
        />
        <TextField
          label={words.description}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        <SelectField
          label={words.firstCode}
          value={begin}
          onChange={({ target }) => setBegin(target.value as FirstCode)}
        >
          {(['bytes', 'json', 'passes'] as const).map((one) => (
            <option key={one} value={one}>
              {words[one]}
            </option>
          ))}
        </SelectField>
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}

interface NewTypeFields {
  readonly name: string;
  readonly description: string;
  readonly begin: FirstCode;
}

function useCreate() {
  const words = useWords(deviceTypesWords);
  const { organizationId } = useAccount();
  const { workspaceId } = route.useParams();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ name, description, begin }: NewTypeFields) => {
      const code = firstCode[begin];
      const body = {
        name,
        organizationId,
        ...(description === '' ? {} : { description }),
        ...(code === null ? {} : { uplinkScript: { code } }),
        meta: begin === 'bytes' ? ({ encoding: 'HEX' } as const) : ({ encoding: 'JSON' } as const),
      };
      return ask(platform.POST('/v3/device-types', { body }));
    },
    async onSuccess({ id: typeId, name }) {
      await client.invalidateQueries({ queryKey: ['device-types'] });
      toast(words.created(name));
      await navigate({
        to: '/w/$workspaceId/types/$typeId',
        params: { workspaceId, typeId },
      });
    },
  });
}
