// Dialogs of bulk work: the question before a deletion, the move to another data flow, and the devices that were not changed.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { tagsOf } from '../../api/workspace-records.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import type { Selection } from '../../ui/rows/selectable-table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  addTag,
  bulkSelection,
  type BulkWork,
  changedIds,
  moveDevices,
  tagNamed,
  untag,
} from './bulk-work.ts';
import type { Device } from './device-list.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';
import { ask, platform } from '../../api/platform.ts';
import { useWorkspaces } from '../../session/session.ts';

/** More are not read by anyone; the operation has them all. */
const failedShown = 200;

interface DeleteDialogProps {
  readonly count: number;
  readonly close: () => void;
  readonly remove: () => void;
}

export function DeleteDialog({ count, close, remove }: DeleteDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const said = words.count(formats.count(count), count);
  return (
    <Dialog
      title={words.removeTitle(said)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="danger" onClick={remove}>
            {words.removeNow(said)}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
    </Dialog>
  );
}

export function FailedDialog({ work }: { readonly work: BulkWork }) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const { failed, forgetFailed } = work;
  return (
    <Dialog
      title={words.someFailed(formats.count(failed.length))}
      close={forgetFailed}
      isWide
      footer={<Button onClick={forgetFailed}>{words.understood}</Button>}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <div className={styles['failed']} role="region" aria-label={words.failedTable} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.device}</th>
              <th scope="col">{words.reason}</th>
            </tr>
          </thead>
          <tbody>
            {failed.slice(0, failedShown).map(({ name, reason }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {failed.length > failedShown && <p>{words.failedMore(formats.count(failedShown))}</p>}
    </Dialog>
  );
}

// Tag dialog: gives the selected devices a tag, and creates it if it does not exist.

interface WorkDialogProps {
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

// Move dialog: gives the selected devices another data flow, of this workspace or another one.

const flowsMax = 1_000;

export function useFlows(workspaceId: string) {
  return useQuery({
    queryKey: ['flows', workspaceId],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: flowsMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/data-flows', { signal, params: { query } }));
    },
  });
}

export function MoveDialog(props: WorkDialogProps & { readonly count: number }) {
  const { place, close, count } = props;
  const words = useWords(devicesWords);
  const formats = useFormats();
  const workspaces = useWorkspaces().data?.content ?? [];
  const [target, setTarget] = useState(place.workspaceId);
  const flows = useFlows(target);
  const [chosen, setChosen] = useState('');
  const known = flows.data?.content ?? [];
  const flowId = known.some(({ id }) => id === chosen) ? chosen : (known[0]?.id ?? '');
  const move = useMove(props);
  return (
    <Dialog
      title={words.moveTitle(words.count(formats.count(count), count))}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="primary" disabled={flowId === ''} onClick={() => move(target, flowId)}>
            {words.move}
          </Button>
        </>
      }
    >
      <SelectField
        label={words.workspace}
        value={target}
        onChange={(event) => setTarget(event.target.value)}
      >
        {workspaces.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.flow}
        value={flowId}
        onChange={(event) => setChosen(event.target.value)}
        {...(flows.isSuccess && known.length === 0 ? { error: words.noFlow } : {})}
        {...(flows.error === null ? {} : { error: flows.error.message })}
      >
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {target !== place.workspaceId && <p className="mute">{words.moveNote}</p>}
    </Dialog>
  );
}

function useMove({ place, selection, work, close }: WorkDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  return (targetWorkspaceId: string, dataFlowId: string) => {
    close();
    const chosen = bulkSelection(place.workspaceId, place.search, selection);
    void work.run(
      words.moving,
      () => moveDevices(chosen, { targetWorkspaceId, dataFlowId }),
      (operation) => {
        const many = changedIds(operation).length;
        toast(words.moved(words.count(formats.count(many), many)));
        selection.clear();
      },
    );
  };
}
