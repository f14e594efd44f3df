// Tag dialog: gives the selected devices a tag, and creates it if it does not exist.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { tagsOf } from '../../api/tags.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { addTag, bulkSelection, tagNamed, untag } from './bulk-requests.ts';
import { type BulkWork, changedIds } from './bulk-work.ts';
import type { Device } from './device-list.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';
import type { Selection } from '../../ui/rows/use-selection.ts';

export interface WorkDialogProps {
  readonly place: ListPlace;
  readonly selection: Selection<Device>;
  readonly work: BulkWork;
  readonly close: () => void;
}

export function TagDialog({ place, selection, work, close }: WorkDialogProps) {
  const words = useWords(devicesWords);
  const tags = useQuery(tagsOf(place.workspaceId)).data?.content ?? [];
  const start = useTagging({ place, selection, work, close });
  const [name, setName] = useState('');
  const list = useId();
  const isNew = name.trim() !== '' && !tags.some((tag) => tag.name === name.trim());
  return (
    <FormDialog
      title={words.addTag}
      submitLabel={isNew ? words.makeTag : words.addTag}
      isIncomplete={name.trim() === ''}
      submit={() => start(name.trim(), tags)}
      close={close}
    >
      <TextField
        label={words.chooseTag}
        hint={words.tagHint}
        list={list}
        value={name}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the only field of a dialog that was asked for
        autoFocus
        autoComplete="off"
        onChange={(event) => setName(event.target.value)}
      />
      <datalist id={list}>
        {tags.map((tag) => (
          <option key={tag.id} value={tag.name}>
            {tag.name}
          </option>
        ))}
      </datalist>
    </FormDialog>
  );
}

type KnownTags = readonly { readonly id: string; readonly name: string }[];

function useTagging({ place, selection, work, close }: WorkDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const client = useQueryClient();
  return (name: string, known: KnownTags) => {
    close();
    const tagged = new Set(
      selection.rows
        .filter((device) => device.tags.some((tag) => tag.name === name))
        .map(({ id }) => id),
    );
    if (!selection.isAll && tagged.size === selection.count) {
      toast(words.allTagged(name));
      return;
    }
    let tagId = '';
    void work.run(
      words.tagging,
      async () => {
        tagId = await tagNamed(place.workspaceId, name, known);
        void client.invalidateQueries({ queryKey: ['tags'] });
        const chosen = bulkSelection(place.workspaceId, place.search, selection);
        return addTag(chosen, tagId, tagged);
      },
      (operation) => {
        const undo = () =>
          void work.run(
            words.untagging,
            () => untag(operation, tagId),
            () => toast(words.undone),
          );
        const many = changedIds(operation).length;
        toast(words.tagged(words.count(formats.count(many), many), name), undo);
        selection.clear();
      },
    );
  };
}
