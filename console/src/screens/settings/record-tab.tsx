// Record tab: a tab of the settings with a list of what describes assets, which are created, edited and deleted there.
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../ui/data-table.tsx';
import { type Answer, Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { SettingsFrame, type SettingsTab, useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';

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
  readonly columns: readonly DataColumn<T>[];
  /** The dialog of the record, or of a new one. */
  readonly form: (record: T | undefined, close: () => void) => ReactNode;
  /** The question before it is deleted. */
  readonly removal: (record: T, close: () => void) => ReactNode;
}

export function RecordTab<T extends Listed>(props: RecordTabProps<T>) {
  const { tab, answer, path, createLabel, emptyTitle, columns, form, removal } = props;
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
        none={<Empty title={emptyTitle} actions={create} />}
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
