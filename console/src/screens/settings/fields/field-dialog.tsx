// Field dialog: name, kind, options and description of a new custom field or of one that exists.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../parts/field.tsx';
import { Failure } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import type { CustomField } from './fields.tsx';

const kinds = ['STRING', 'NUMBER', 'DATE', 'GPS_COORDINATES', 'JSON'] as const;
type Kind = (typeof kinds)[number];

interface FieldDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly field?: CustomField;
  readonly close: () => void;
}

export function FieldDialog({ workspaceId, field, close }: FieldDialogProps) {
  const words = useWords(settingsWords);
  const form = useId();
  const [type, setType] = useState<Kind>(field?.type ?? 'STRING');
  const [isRequired, setRequired] = useState(field?.required ?? false);
  const save = useSave(workspaceId, field, close);
  const faults = faultsOf(save.error);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const options = String(given.get('options') ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    save.mutate({
      name: String(given.get('name')).trim(),
      type,
      description: String(given.get('description')).trim() || null,
      required: isRequired,
      selectOptions: type === 'STRING' && options.length > 0 ? [...new Set(options)] : null,
    });
  };
  return (
    <Dialog
      title={field === undefined ? words.newField : words.edit(field.name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button type="submit" form={form} look="primary" disabled={save.isPending}>
            {words.save}
          </Button>
        </>
      }
    >
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField
          label={words.name}
          name="name"
          required
          pattern=".*\S.*"
          maxLength={200}
          autoComplete="off"
          autoFocus
          defaultValue={field?.name ?? ''}
          error={faultAt(faults, 'name')}
        />
        <SelectField
          label={words.kind}
          hint={field === undefined ? words.kindHint : words.kindFixed}
          disabled={field !== undefined}
          value={type}
          onChange={({ target }) => setType(target.value as Kind)}
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {words.kinds[kind]}
            </option>
          ))}
        </SelectField>
        {type === 'STRING' && (
          <TextArea
            label={words.options}
            hint={words.optionsHint}
            name="options"
            defaultValue={(field?.selectOptions ?? []).join('\n')}
            error={faultAt(faults, 'selectOptions')}
          />
        )}
        <TextField
          label={words.description}
          name="description"
          autoComplete="off"
          defaultValue={field?.description ?? ''}
        />
        <CheckField
          label={words.requiredField}
          hint={words.requiredHint}
          isOn={isRequired}
          change={setRequired}
        />
        {save.error !== null && faults.rest !== undefined && <Failure error={save.error} />}
      </form>
    </Dialog>
  );
}

interface FieldFields {
  readonly name: string;
  readonly type: Kind;
  readonly description: string | null;
  readonly required: boolean;
  readonly selectOptions: string[] | null;
}

function useSave(workspaceId: string, field: CustomField | undefined, close: () => void) {
  const words = useWords(settingsWords);
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ type, ...fields }: FieldFields) => {
      if (field === undefined) {
        const body = { workspaceId, type, ...fields };
        return ask(platform.POST('/v3/custom-fields/meta', { body }));
      }
      const { id, version } = field;
      const body = { id, version, ...fields };
      return ask(platform.PUT('/v3/custom-fields/meta/{id}', { params: { path: { id } }, body }));
    },
    onSuccess: async ({ name }) => {
      toast(words.savedNamed(name));
      close();
      await client.invalidateQueries({ queryKey: ['custom-fields'] });
    },
  });
}
