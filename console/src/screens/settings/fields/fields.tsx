// Custom fields of a workspace: what devices carry besides their data, its kinds and options.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { customFieldsOf } from '../../../api/custom-fields.ts';
import { Chip } from '../../../parts/chip.tsx';
import type { DataColumn } from '../../../parts/data-table.tsx';
import { useWords } from '../../../words/language.tsx';
import { RecordTab } from '../record-tab.tsx';
import { useSettingsWorkspace } from '../settings-frame.tsx';
import { settingsWords } from '../settings-words.ts';
import { FieldDialog } from './field-dialog.tsx';
import { RemoveField } from './remove-field.tsx';

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
      form={(field, close) => <FieldDialog {...{ workspaceId, field, close }} />}
      removal={(field, close) => <RemoveField {...{ field, close }} />}
    />
  );
}
