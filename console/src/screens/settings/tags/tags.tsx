// Tags of a workspace: their colors and names, how many devices carry them, new ones and deletion.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button, IconButton } from '../../../parts/button.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../../parts/data-table.tsx';
import { Empty } from '../../../parts/states.tsx';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { SettingsFrame, useSettingsWorkspace } from '../settings-frame.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { TagDialog } from './tag-dialog.tsx';

export type Tag = components['schemas']['Tag'];

const tagsMax = 1_000;

export function Tags() {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const [edited, setEdited] = useState<Tag | 'new'>();
  const [removed, setRemoved] = useState<Tag>();
  const tags = useQuery({
    queryKey: ['tags', workspaceId, 'all'],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: tagsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/tags', { signal, params: { query } }));
    },
  });
  const create = (
    <Button look="primary" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      {words.newTag}
    </Button>
  );
  const curl = { path: `/v3/tags?workspaceId=${workspaceId}` };
  return (
    <SettingsFrame tab="tags" curl={() => curl} actions={create}>
      <RecordSheet
        answer={tags}
        path={curl.path}
        none={
          <Empty
            title={words.noTags}
            actions={create}
            curl={{ method: 'POST', path: '/v3/tags', body: { workspaceId, name: 'roof' } }}
          />
        }
      >
        {(found) => <TagTable tags={found} edit={setEdited} remove={setRemoved} />}
      </RecordSheet>
      {edited !== undefined && (
        <TagDialog
          workspaceId={workspaceId}
          {...(edited === 'new' ? {} : { tag: edited })}
          close={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && <RemoveTag tag={removed} close={() => setRemoved(undefined)} />}
    </SettingsFrame>
  );
}

interface TagTableProps {
  readonly tags: readonly Tag[];
  readonly edit: (tag: Tag) => void;
  readonly remove: (tag: Tag) => void;
}

function TagTable({ tags, edit, remove }: TagTableProps) {
  const words = useWords(settingsWords);
  const { count } = useFormats();
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
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (tag) => (
        <>
          <IconButton label={words.edit(tag.name)} icon={Pencil} onClick={() => edit(tag)} />
          <IconButton
            label={words.deleteNamed(tag.name)}
            icon={Trash2}
            onClick={() => remove(tag)}
          />
        </>
      ),
    },
  ];
  return <DataTable label={words.tabs.tags} columns={columns} rows={tags} keyOf={({ id }) => id} />;
}

function RemoveTag({ tag, close }: { readonly tag: Tag; readonly close: () => void }) {
  const words = useWords(settingsWords);
  const client = useQueryClient();
  const { id, name, taggedDevices } = tag;
  const remove = useMutation({
    mutationFn: () => ask(platform.DELETE('/v3/tags/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      toast(words.removed(name));
      close();
      await client.invalidateQueries({ queryKey: ['tags'] });
      await client.invalidateQueries({ queryKey: ['devices'] });
    },
    onError: toastFailure,
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(name)}
      note={words.tagRemoveNote(taggedDevices)}
      confirmLabel={words.delete}
      cancelLabel={words.cancel}
      isBusy={remove.isPending}
      confirm={() => remove.mutate()}
      close={close}
    />
  );
}
