// Field dialog: name, kind, options and description of a new custom field or of one that exists.
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { CheckField } from '../../../parts/check-field.tsx';
import { SelectField, TextArea, TextField } from '../../../parts/field.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { useWords } from '../../../words/language.tsx';
import { NameField } from '../name-field.tsx';
import { settingsWords } from '../settings-words.ts';
import type { CustomField } from './fields.tsx';

const kinds = ['STRING', 'NUMBER', 'DATE', 'GPS_COORDINATES', 'JSON'] as const;
type Kind = (typeof kinds)[number];

interface FieldDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly field?: CustomField | undefined;
  readonly close: () => void;
}

export function FieldDialog({ workspaceId, field, close }: FieldDialogProps) {
  const words = useWords(settingsWords);
  const [type, setType] = useState<Kind>(field?.type ?? 'STRING');
  const [isRequired, setRequired] = useState(field?.required ?? false);
  const { save, faultOf, isBusy, error } = useSave(workspaceId, field, close);
  const submit = (given: FormData) => {
    const options = String(given.get('options') ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    save({
      name: String(given.get('name')).trim(),
      type,
      description: String(given.get('description')).trim() || null,
      required: isRequired,
      selectOptions: type === 'STRING' && options.length > 0 ? [...new Set(options)] : null,
    });
  };
  return (
    <FormDialog
      title={field === undefined ? words.newField : words.edit(field.name)}
      submitLabel={words.save}
      {...{ submit, isBusy, error, close }}
    >
      <NameField value={field?.name} error={faultOf('name')} />
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
          error={faultOf('selectOptions')}
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
    </FormDialog>
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
  return useFormSave({
    send: ({ type, ...fields }: FieldFields) => {
      if (field === undefined) {
        const body = { workspaceId, type, ...fields };
        return ask(platform.POST('/v3/custom-fields/meta', { body }));
      }
      const { id, version } = field;
      const body = { id, version, ...fields };
      return ask(platform.PUT('/v3/custom-fields/meta/{id}', { params: { path: { id } }, body }));
    },
    fields: ['name', 'selectOptions'],
    refreshes: [['custom-fields']],
    message: ({ name }) => words.savedNamed(name),
    close,
  });
}
