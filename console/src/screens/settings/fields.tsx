// Custom fields of a workspace: what devices carry besides their data, its kinds and options.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Refusal } from '../../api/refusal.ts';
import { customFieldsOf } from '../../api/workspace-records.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useWords } from '../../words/language.tsx';
import { NameField } from './name-field.tsx';
import { RecordTab } from './record-tab.tsx';
import { useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';

export type CustomField = components['schemas']['CustomField'];

export function Fields() {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const columns: readonly DataColumn<CustomField>[] = [
    {
      key: 'name',
      header: words.name,
      cell: ({ name, required }) => (
        <>
          {name} {required && <Chip tone="sun">{words.requiredChip}</Chip>}
        </>
      ),
    },
    { key: 'type', header: words.kind, cell: ({ type }) => words.kinds[type] },
    {
      key: 'options',
      header: words.options,
      cell: ({ selectOptions }) => (selectOptions ?? []).join(', '),
    },
    { key: 'description', header: words.description, cell: ({ description }) => description },
  ];
  return (
    <RecordTab
      tab="fields"
      answer={useQuery(customFieldsOf(workspaceId))}
      path="/v3/custom-fields/meta"
      createLabel={words.newField}
      emptyTitle={words.noFields}
      columns={columns}
      form={(field, close) => <FieldDialog workspaceId={workspaceId} field={field} close={close} />}
      removal={(field, close) => <RemoveField field={field} close={close} />}
    />
  );
}

// Removal of a custom field: with the values of devices only after a second question.

interface RemoveFieldProps {
  readonly field: CustomField;
  readonly close: () => void;
}

function RemoveField({ field: { id, name }, close }: RemoveFieldProps) {
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

// Field dialog: name, kind, options and description of a new custom field or of one that exists.

const kinds = ['STRING', 'NUMBER', 'DATE', 'GPS_COORDINATES', 'JSON'] as const;
type Kind = (typeof kinds)[number];

interface FieldDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly field?: CustomField | undefined;
  readonly close: () => void;
}

function FieldDialog({ workspaceId, field, close }: FieldDialogProps) {
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
      submit={submit}
      isBusy={isBusy}
      error={error}
      close={close}
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
