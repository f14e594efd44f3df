// New device type: its name and the code that it begins with; the editor opens on it.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useFormSave } from '../../parts/use-form-save.ts';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { deviceTypesWords } from './device-types-words.ts';
import { type FirstCode, firstCode } from './first-code.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types');

export function NewType({ close }: { readonly close: () => void }) {
  const words = useWords(deviceTypesWords);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [begin, setBegin] = useState<FirstCode>('bytes');
  const { save, isBusy, error } = useCreate();
  return (
    <FormDialog
      title={words.create}
      submitLabel={words.createIt}
      submit={() => save({ name: name.trim(), description: description.trim(), begin })}
      {...{ isBusy, error, close }}
    >
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
    </FormDialog>
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
  const navigate = useNavigate();
  return useFormSave({
    send: ({ name, description, begin }: NewTypeFields) => {
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
    refreshes: [['device-types']],
    message: ({ name }) => words.created(name),
    open: ({ id: typeId }) =>
      navigate({ to: '/w/$workspaceId/types/$typeId', params: { workspaceId, typeId } }),
  });
}
