// Tags and custom fields of a workspace: the two lists of what describes assets, which are created, edited and deleted there.
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, IconButton } from '../../ui/button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../ui/data-table.tsx';
import { type Answer, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { SettingsFrame, type SettingsTab, useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform, Refusal } from '../../api/platform.ts';
import { customFieldsOf, tagsOf } from '../../api/workspace-records.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { NameField } from '../../ui/name-fields.tsx';
import styles from './settings.module.css';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Chip } from '../../ui/chip.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';

interface Listed {
  readonly id: string;
  readonly name: string;
}

interface RecordTabProps<T extends Listed> {
  readonly tab: SettingsTab;
  readonly answer: Answer<{ readonly content: readonly T[] }>;
  /** Of the records, for a terminal. */
  readonly path: string;
  readonly createLabel: string;
  readonly emptyTitle: string;
  readonly emptyNote: string;
  readonly columns: readonly DataColumn<T>[];
  /** The dialog of the record, or of a new one. */
  readonly form: (record: T | undefined, close: () => void) => ReactNode;
  /** The question before it is deleted. */
  readonly removal: (record: T, close: () => void) => ReactNode;
}

export function RecordTab<T extends Listed>(props: RecordTabProps<T>) {
  const { tab, answer, path, createLabel, emptyTitle, emptyNote, columns, form, removal } = props;
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const [edited, setEdited] = useState<T | 'new'>();
  const [removed, setRemoved] = useState<T>();
  const create = (
    <Button needs="asset: create" look="primary" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      {createLabel}
    </Button>
  );
  const actions: DataColumn<T> = {
    key: 'actions',
    header: words.actions,
    isQuiet: true,
    cell: (record) => (
      <>
        <IconButton
          label={words.edit(record.name)}
          icon={Pencil}
          needs="asset: update"
          onClick={() => setEdited(record)}
        />
        <IconButton
          label={words.deleteNamed(record.name)}
          icon={Trash2}
          needs="asset: delete"
          onClick={() => setRemoved(record)}
        />
      </>
    ),
  };
  const curl = { path: `${path}?workspaceId=${workspaceId}` };
  return (
    <SettingsFrame tab={tab} curl={() => curl} actions={create}>
      <RecordSheet
        answer={answer}
        path={curl.path}
        none={<Empty title={emptyTitle} note={emptyNote} actions={create} />}
      >
        {(rows) => (
          <DataTable
            label={words.tabs[tab]}
            columns={[...columns, actions]}
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
      </RecordSheet>
      {edited !== undefined &&
        form(edited === 'new' ? undefined : edited, () => setEdited(undefined))}
      {removed !== undefined && removal(removed, () => setRemoved(undefined))}
    </SettingsFrame>
  );
}

// Tags of a workspace: their colors and names, how many devices carry them, new ones and deletion.

export type Tag = components['schemas']['Tag'];

export function Tags() {
  const words = useWords(settingsWords);
  const { count } = useFormats();
  const workspaceId = useSettingsWorkspace();
  const columns: readonly DataColumn<Tag>[] = [
    {
      key: 'name',
      header: words.name,
      cell: ({ name, color }) => (
        <>
          <span
            className={styles['swatch']}
            style={color === null ? {} : { background: color }}
            aria-hidden="true"
          />
          {name}
        </>
      ),
    },
    { key: 'description', header: words.description, cell: ({ description }) => description },
    { key: 'devices', header: words.devices, cell: ({ taggedDevices }) => count(taggedDevices) },
  ];
  return (
    <RecordTab
      tab="tags"
      answer={useQuery(tagsOf(workspaceId))}
      path="/v3/tags"
      createLabel={words.newTag}
      emptyTitle={words.noTags}
      emptyNote={words.noTagsNote}
      columns={columns}
      form={(tag, close) => <TagDialog workspaceId={workspaceId} tag={tag} close={close} />}
      removal={(tag, close) => <RemoveTag tag={tag} close={close} />}
    />
  );
}

function RemoveTag({ tag, close }: { readonly tag: Tag; readonly close: () => void }) {
  const words = useWords(settingsWords);
  const { id, name, taggedDevices } = tag;
  return (
    <RemoveDialog
      name={name}
      note={words.tagRemoveNote(taggedDevices)}
      send={() => ask(platform.DELETE('/v3/tags/{id}', { params: { path: { id } } }))}
      lists={[['tags'], ['devices']]}
      close={close}
    />
  );
}

// Tag dialog: name, description and color of a new tag or of one that exists.

/** Those of the charts in the light theme, and a grey. */
const colors = ['#c2570c', '#3456bf', '#589d92', '#8e3a62', '#af71fa', '#12703a', '#8f887b'];

interface TagDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly tag?: Tag | undefined;
  readonly close: () => void;
}

function TagDialog({ workspaceId, tag, close }: TagDialogProps) {
  const words = useWords(settingsWords);
  const [color, setColor] = useState(tag?.color?.toLowerCase() ?? '');
  const { save, faultOf, isBusy, error } = useTagSave(workspaceId, tag, close);
  const submit = (given: FormData) => {
    save({
      name: String(given.get('name')).trim(),
      description: String(given.get('description')).trim() || null,
      color: color === '' ? null : color,
    });
  };
  return (
    <FormDialog
      title={tag === undefined ? words.newTag : words.edit(tag.name)}
      submitLabel={words.save}
      submit={submit}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <NameField value={tag?.name} error={faultOf('name')} />
      <TextField
        label={words.description}
        name="description"
        autoComplete="off"
        defaultValue={tag?.description ?? ''}
      />
      <ColorChoice color={color} choose={setColor} />
    </FormDialog>
  );
}

interface ColorChoiceProps {
  readonly color: string;
  readonly choose: (color: string) => void;
}

/** A color that another client gave is offered too. */
function ColorChoice({ color, choose }: ColorChoiceProps) {
  const words = useWords(settingsWords);
  const others = color === '' || colors.includes(color) ? [] : [color];
  return (
    <fieldset className={`stack fit gap-12 ${styles['group']}`}>
      <legend>{words.color}</legend>
      <div className="flow wrap gap-8">
        {['', ...colors, ...others].map((one) => (
          <label key={one} className={styles['color']}>
            <input
              type="radio"
              name="color"
              aria-label={one === '' ? words.noColor : one}
              checked={one === color}
              onChange={() => choose(one)}
            />
            <span className={styles['none']} style={one === '' ? {} : { background: one }}>
              {one === '' && '–'}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface TagFields {
  readonly name: string;
  readonly description: string | null;
  readonly color: string | null;
}

function useTagSave(workspaceId: string, tag: Tag | undefined, close: () => void) {
  const words = useWords(settingsWords);
  return useFormSave({
    send: (fields: TagFields) => {
      if (tag === undefined)
        return ask(platform.POST('/v3/tags', { body: { workspaceId, ...fields } }));
      const { id, version } = tag;
      const body = { id, version, ...fields };
      return ask(platform.PUT('/v3/tags/{id}', { params: { path: { id } }, body }));
    },
    fields: ['name'],
    refreshes: [['tags']],
    message: ({ name }) => words.savedNamed(name),
    close,
  });
}

// Custom fields of a workspace: what devices carry besides their data, its kinds and options.

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
      emptyNote={words.noFieldsNote}
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
  const { save, faultOf, isBusy, error } = useFieldSave(workspaceId, field, close);
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

function useFieldSave(workspaceId: string, field: CustomField | undefined, close: () => void) {
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
