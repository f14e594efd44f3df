// Tags of a workspace: their colors and names, how many devices carry them, new ones and deletion.
import { useQuery } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { tagsOf } from '../../../api/tags.ts';
import type { DataColumn } from '../../../parts/data-table.tsx';
import { RemoveDialog } from '../../../parts/remove-dialog.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { RecordTab } from '../record-tab.tsx';
import { useSettingsWorkspace } from '../settings-frame.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { TagDialog } from './tag-dialog.tsx';

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
      form={(tag, close) => <TagDialog {...{ workspaceId, tag, close }} />}
      removal={(tag, close) => <RemoveTag {...{ tag, close }} />}
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
