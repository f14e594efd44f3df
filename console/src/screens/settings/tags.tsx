// Tags of a workspace: their colors and names, how many devices carry them, new ones and deletion.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { tagsOf } from '../../api/workspace-records.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { NameField } from './name-field.tsx';
import { RecordTab } from './record-tab.tsx';
import { useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';
import styles from './settings.module.css';

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
  const { save, faultOf, isBusy, error } = useSave(workspaceId, tag, close);
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

function useSave(workspaceId: string, tag: Tag | undefined, close: () => void) {
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
