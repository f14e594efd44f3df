// Selection bar: what can be done with the selected devices, and how far it is.
import { Download, FolderInput, Power, Tag, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { bulkSelection, deleteDevices, switchDevices } from './bulk-requests.ts';
import { type BulkWork, changedIds, type Progress } from './bulk-work.ts';
import { DeleteDialog } from './bulk-dialogs.tsx';
import type { Device } from './device-list.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';
import { MoveDialog } from './move-dialog.tsx';
import { TagDialog } from './tag-dialog.tsx';
import type { Export } from './use-export.ts';
import type { Selection } from '../../parts/rows/use-selection.ts';

type Asked = 'tag' | 'move' | 'delete';

interface SelectionBarProps {
  readonly place: ListPlace;
  readonly selection: Selection<Device>;
  readonly total: number;
  readonly work: BulkWork;
  readonly exporting: Export;
}

export function SelectionBar(props: SelectionBarProps) {
  const { selection, total, work } = props;
  const words = useWords(devicesWords);
  const formats = useFormats();
  const [asked, setAsked] = useState<Asked>();
  const count = selection.isAll ? total : selection.count;
  if (work.progress !== undefined) return <WorkProgress progress={work.progress} />;
  return (
    <div className={styles['bar']} role="toolbar" aria-label={words.selection}>
      <b className="num" aria-live="polite">
        {words.selected(formats.count(count))}
      </b>
      {!selection.isAll && selection.count < total && (
        <button type="button" className={styles['link']} onClick={selection.selectAll}>
          {words.selectAll(formats.count(total))}
        </button>
      )}
      <Button look="ghost" onClick={selection.clear}>
        <X aria-hidden="true" />
        {words.clear}
      </Button>
      <span className="grow" />
      <WorkButtons {...props} ask={setAsked} />
      <AskedDialog {...props} asked={asked} close={() => setAsked(undefined)} count={count} />
    </div>
  );
}

function WorkButtons(props: SelectionBarProps & { readonly ask: (asked: Asked) => void }) {
  const { selection, exporting, ask } = props;
  const words = useWords(devicesWords);
  const activate = useSwitch(props);
  const hasSwitch = selection.isAll || selection.rows.some(isSwitchable);
  return (
    <>
      <Button onClick={() => ask('tag')}>
        <Tag aria-hidden="true" />
        {words.tag}
      </Button>
      <Button onClick={() => ask('move')}>
        <FolderInput aria-hidden="true" />
        {words.move}
      </Button>
      {hasSwitch && (
        <Button onClick={activate}>
          <Power aria-hidden="true" />
          {words.activate}
        </Button>
      )}
      <Button
        disabled={exporting.progress !== undefined}
        onClick={() =>
          selection.isAll ? exporting.exportAll() : exporting.exportSome(selection.rows)
        }
      >
        <Download aria-hidden="true" />
        {exporting.progress ?? words.exportSelected}
      </Button>
      <Button look="danger" onClick={() => ask('delete')}>
        <Trash2 aria-hidden="true" />
        {words.remove}
      </Button>
    </>
  );
}

/** Only network servers of LoRaWAN know active and inactive devices. */
function isSwitchable({ connectivity }: { readonly connectivity: string }): boolean {
  return connectivity === 'LORA';
}

function useSwitch({ place, selection, work }: SelectionBarProps): () => void {
  const words = useWords(devicesWords);
  const formats = useFormats();
  return () => {
    const body = bulkSelection(place.workspaceId, place.search, selection);
    void work.run(
      words.activating,
      () => switchDevices(body, 'activate'),
      (operation) => {
        const deviceIds = changedIds(operation);
        const { workspaceId } = place;
        const undo = () =>
          void work.run(
            words.deactivating,
            () => switchDevices({ workspaceId, deviceIds }, 'deactivate'),
            () => toast(words.undone),
          );
        if (deviceIds.length > 0) toast(words.activated(formats.count(deviceIds.length)), undo);
        selection.clear();
      },
    );
  };
}

interface AskedDialogProps extends SelectionBarProps {
  readonly asked: Asked | undefined;
  readonly close: () => void;
  readonly count: number;
}

function AskedDialog({ asked, close, count, place, selection, work }: AskedDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const common = { place, selection, work, close };
  if (asked === 'tag') return <TagDialog {...common} />;
  if (asked === 'move') return <MoveDialog {...common} count={count} />;
  if (asked !== 'delete') return null;
  const remove = () => {
    close();
    void work.run(
      words.deleting,
      () => deleteDevices(bulkSelection(place.workspaceId, place.search, selection)),
      (operation) => {
        toast(words.removed(formats.count(changedIds(operation).length)));
        selection.clear();
      },
    );
  };
  return <DeleteDialog count={count} close={close} remove={remove} />;
}

export function WorkProgress({ progress: { what, done, total } }: { readonly progress: Progress }) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const far = total === 0 ? '' : words.doneOf(formats.count(done), formats.count(total));
  return (
    <div className={styles['bar']} role="status">
      <b>{what}</b>
      <progress aria-label={what} {...(total === 0 ? {} : { value: done, max: total })} />
      <span className="mute num">{far}</span>
    </div>
  );
}
