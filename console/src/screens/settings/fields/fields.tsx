// Custom fields of a workspace: what devices carry besides their data, its kinds and options.
import { useQuery } from '@tanstack/react-query';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button, IconButton } from '../../../parts/button.tsx';
import { Chip } from '../../../parts/chip.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../../parts/data-table.tsx';
import { Empty } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { SettingsFrame, useSettingsWorkspace } from '../settings-frame.tsx';
import { settingsWords } from '../settings-words.ts';
import { FieldDialog } from './field-dialog.tsx';
import { RemoveField } from './remove-field.tsx';

export type CustomField = components['schemas']['CustomField'];

const fieldsMax = 1_000;
const path = '/v3/custom-fields/meta';

export function Fields() {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const [edited, setEdited] = useState<CustomField | 'new'>();
  const [removed, setRemoved] = useState<CustomField>();
  const fields = useQuery({
    queryKey: ['custom-fields', workspaceId, 'all'],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: fieldsMax, sort: 'name,asc' };
      return ask(platform.GET(path, { signal, params: { query } }));
    },
  });
  const create = (
    <Button look="primary" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      {words.newField}
    </Button>
  );
  const curl = { path: `${path}?workspaceId=${workspaceId}` };
  const example = { workspaceId, name: 'Floor', type: 'NUMBER' };
  return (
    <SettingsFrame tab="fields" curl={() => curl} actions={create}>
      <RecordSheet
        answer={fields}
        path={curl.path}
        none={
          <Empty
            title={words.noFields}
            actions={create}
            curl={{ method: 'POST', path, body: example }}
          />
        }
      >
        {(found) => <FieldTable fields={found} edit={setEdited} remove={setRemoved} />}
      </RecordSheet>
      {edited !== undefined && (
        <FieldDialog
          workspaceId={workspaceId}
          {...(edited === 'new' ? {} : { field: edited })}
          close={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && <RemoveField field={removed} close={() => setRemoved(undefined)} />}
    </SettingsFrame>
  );
}

interface FieldTableProps {
  readonly fields: readonly CustomField[];
  readonly edit: (field: CustomField) => void;
  readonly remove: (field: CustomField) => void;
}

function FieldTable({ fields, edit, remove }: FieldTableProps) {
  const words = useWords(settingsWords);
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
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (field) => (
        <>
          <IconButton label={words.edit(field.name)} icon={Pencil} onClick={() => edit(field)} />
          <IconButton
            label={words.deleteNamed(field.name)}
            icon={Trash2}
            onClick={() => remove(field)}
          />
        </>
      ),
    },
  ];
  return (
    <DataTable label={words.tabs.fields} columns={columns} rows={fields} keyOf={({ id }) => id} />
  );
}
