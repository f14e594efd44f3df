// Selection bar: what can be done with the selected devices, and how far it is.
import { Download, FileDown, FolderInput, Power, PowerOff, Tag, Trash2, X } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { type PageAction, usePageActions } from '../../ui/page.tsx';
import type { Selection } from '../../ui/rows/selectable-table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DeleteDialog, MoveDialog, TagDialog } from './bulk-dialogs.tsx';
import {
  bulkSelection,
  type BulkWork,
  changedIds,
  deleteDevices,
  type Progress,
  switchDevices,
} from './bulk-work.ts';
import type { Device } from './device-list.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords, sampleExportWords } from './devices-words.ts';
import styles from './devices.module.css';
import { type Export, SampleExportDialog } from './export.tsx';

export type Asked = 'tag' | 'move' | 'delete' | 'samples';

interface SelectionBarProps {
  readonly place: ListPlace;
  readonly selection: Selection<Device>;
  readonly total: number;
  readonly work: BulkWork;
  readonly exporting: Export;
  /** The dialog that is open. */
  readonly asked: Asked | undefined;
  readonly ask: (asked: Asked | undefined) => void;
}

export function SelectionBar(props: SelectionBarProps) {
  const { selection, total, work, ask } = props;
  const words = useWords(devicesWords);
  const formats = useFormats();
  const count = selection.isAll ? total : selection.count;
  useSelectionActions(props, count);
  if (work.progress !== undefined) return <WorkProgress progress={work.progress} />;
  return (
    <div className={styles['bar']} role="toolbar" aria-label={words.selection}>
      <b className="num" aria-live="polite">
        {words.selected(formats.count(count))}
      </b>
      {!selection.isAll && selection.count < total && (
        <button type="button" className={styles['link']} onClick={selection.selectAll}>
          {words.selectAll(total)}
        </button>
      )}
      <Button
        needs="asset: update"
        look="ghost"
        aria-keyshortcuts="Escape"
        onClick={selection.clear}
      >
        <X aria-hidden="true" />
        {words.clear}
      </Button>
      <span className="grow" />
      <WorkButtons {...props} />
      <AskedDialog {...props} close={() => ask(undefined)} count={count} />
    </div>
  );
}

/** What the palette offers for the selected devices. */
function useSelectionActions({ selection, exporting, ask }: SelectionBarProps, count: number) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const said = words.count(formats.count(count), count);
  const exportNow = () => exportSelected(selection, exporting);
  usePageActions(
    useMemo(
      (): PageAction[] => [
        { label: words.tagDevices(said), icon: Tag, run: () => ask('tag'), needs: 'asset: update' },
        {
          label: words.moveDevices(said),
          icon: FolderInput,
          run: () => ask('move'),
          needs: 'asset: update',
        },
        { label: words.exportDevices(said), icon: Download, run: exportNow },
        {
          label: words.removeDevices(said),
          icon: Trash2,
          run: () => ask('delete'),
          needs: 'asset: delete',
        },
      ],
      // oxlint-disable-next-line react-hooks/exhaustive-deps -- another selection has another number
      [said, words, ask],
    ),
  );
}

function exportSelected(selection: Selection<Device>, exporting: Export): void {
  if (selection.isAll) exporting.exportAll();
  else exporting.exportSome(selection.rows);
}

function WorkButtons(props: SelectionBarProps) {
  const { selection, exporting, ask } = props;
  const words = useWords(devicesWords);
  const exportWords = useWords(sampleExportWords);
  const change = useSwitch(props);
  const hasSwitch = selection.isAll || selection.rows.some(isSwitchable);
  return (
    <>
      <Button aria-keyshortcuts="e" onClick={() => ask('tag')}>
        <Tag aria-hidden="true" />
        {words.tag}
      </Button>
      <Button needs="asset: update" onClick={() => ask('move')}>
        <FolderInput aria-hidden="true" />
        {words.move}
      </Button>
      {hasSwitch && (
        <>
          <Button needs="asset: update" onClick={() => change('activate')}>
            <Power aria-hidden="true" />
            {words.activate}
          </Button>
          <Button needs="asset: update" onClick={() => change('deactivate')}>
            <PowerOff aria-hidden="true" />
            {words.deactivate}
          </Button>
        </>
      )}
      <Button
        disabled={exporting.progress !== undefined}
        onClick={() => exportSelected(selection, exporting)}
      >
        <Download aria-hidden="true" />
        {exporting.progress ?? words.exportSelected}
      </Button>
      <Button onClick={() => ask('samples')}>
        <FileDown aria-hidden="true" />
        {exportWords.title}
      </Button>
      <Button look="danger" needs="asset: delete" onClick={() => ask('delete')}>
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

function useSwitch({ place, selection, work }: SelectionBarProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const said = {
    activate: { doing: words.activating, done: words.activated, undo: 'deactivate' },
    deactivate: { doing: words.deactivating, done: words.deactivated, undo: 'activate' },
  } as const;
  return (change: keyof typeof said) => {
    const { workspaceId } = place;
    const body = bulkSelection(workspaceId, place.search, selection);
    const { doing, done, undo } = said[change];
    void work.run(
      doing,
      () => switchDevices(body, change),
      (operation) => {
        const deviceIds = changedIds(operation);
        const takeBack = () =>
          void work.run(
            said[undo].doing,
            () => switchDevices({ workspaceId, deviceIds }, undo),
            () => toast(words.undone),
          );
        const many = deviceIds.length;
        if (many > 0) toast(done(words.count(formats.count(many), many)), takeBack);
        selection.clear();
      },
    );
  };
}

interface AskedDialogProps extends SelectionBarProps {
  readonly close: () => void;
  readonly count: number;
}

function AskedDialog({ asked, close, count, place, selection, work }: AskedDialogProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const common = { place, selection, work, close };
  if (asked === 'tag') return <TagDialog {...common} />;
  if (asked === 'move') return <MoveDialog {...common} count={count} />;
  if (asked === 'samples') {
    const chosen = bulkSelection(place.workspaceId, place.search, selection);
    return <SampleExportDialog selection={chosen} close={close} />;
  }
  if (asked !== 'delete') return null;
  const remove = () => {
    close();
    void work.run(
      words.deleting,
      () => deleteDevices(bulkSelection(place.workspaceId, place.search, selection)),
      (operation) => {
        const many = changedIds(operation).length;
        toast(words.removed(words.count(formats.count(many), many)));
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
