// Devices: the list of a workspace with its views, conditions, columns and work on what is selected.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Columns3, Download, FileDown, Plus, Search, Upload } from 'lucide-react';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ShownMoment } from '../../ui/ago.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { late } from '../../ui/late.tsx';
import { Page, usePageActions } from '../../ui/page.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { usePages } from '../../ui/rows/use-pages.ts';
import { useSelection } from '../../ui/rows/selectable-table.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FailedDialog } from './bulk-dialogs.tsx';
import { useBulkWork } from './bulk-work.ts';
import { type ChosenColumn, columnsOf, withColumns } from './columns/column-order.ts';
import { without } from './device-columns.tsx';
import {
  type Device,
  fetchDevices,
  hasCondition,
  listBody,
  type ListRequest,
  sortOf,
} from './device-list.ts';
import { type DeviceSearch, deviceStates } from './device-search.ts';
import { DeviceTable, type ListPlace } from './device-table.tsx';
import { useDeviceValues, type ValueKey } from './device-values.ts';
import { columnWords, devicesWords, sampleExportWords } from './devices-words.ts';
import styles from './devices.module.css';
import { FilterChips } from './filter/filter-chips.tsx';
import { SampleExportDialog, useExport } from './export.tsx';
import { type Asked, SelectionBar } from './selection-bar.tsx';
import { ViewTabs } from './views/view-tabs.tsx';

// Tools of the device list: search, state, conditions, columns, and how many devices match.

const ColumnDialog = late(
  'ColumnDialog',
  async () => (await import('./columns/column-dialog.tsx')).ColumnDialog,
);

/** A person types several letters in this time. */
const typingMs = 160;

interface ListToolsProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
  readonly changeColumns: (columns: readonly ChosenColumn[]) => void;
  readonly total: number | undefined;
  /** Values that the devices in view send. */
  readonly known: readonly ValueKey[];
}

function ListTools({ place, change, changeColumns, total, known }: ListToolsProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const { workspaceId, search } = place;
  return (
    <div className={styles['tools']}>
      <SearchField
        q={search.q ?? ''}
        choose={(q) => change(q === '' ? without(search, 'q') : { ...search, q })}
      />
      {search.at === undefined && <StateChoice search={search} change={change} />}
      <FilterChips
        workspaceId={workspaceId}
        search={search}
        show={(filter) =>
          change(filter === undefined ? without(search, 'filter') : { ...search, filter })
        }
      />
      <span className="grow" />
      <span className="mute num" aria-live="polite">
        {total !== undefined && words.count(formats.count(total), total)}
      </span>
      <ColumnChoice place={place} changeColumns={changeColumns} known={known} />
    </div>
  );
}

function StateChoice({
  search,
  change,
}: Pick<ListToolsProps, 'change'> & Pick<ListPlace, 'search'>) {
  const words = useWords(devicesWords);
  const states = { online: words.online, silent: words.silent, never: words.neverHeard };
  return (
    <Segments
      label={words.state}
      value={search.state ?? 'all'}
      options={[
        { value: 'all', label: words.all },
        ...deviceStates.map((value) => ({ value, label: states[value] })),
      ]}
      choose={(state) => change(state === 'all' ? without(search, 'state') : { ...search, state })}
    />
  );
}

function ColumnChoice({ place, changeColumns, known }: Omit<ListToolsProps, 'total' | 'change'>) {
  const words = useWords(columnWords);
  const [isOpen, setOpen] = useState(false);
  usePageActions(
    useMemo(
      () => [{ label: words.columns, icon: Columns3, run: () => setOpen(true) }],
      [words.columns],
    ),
  );
  const { workspaceId, search } = place;
  return (
    <span className={styles['columnChoice']}>
      <Button
        look="ghost"
        isIcon
        aria-haspopup="dialog"
        aria-label={words.columns}
        title={words.columns}
        onClick={() => setOpen(true)}
      >
        <Columns3 aria-hidden="true" />
      </Button>
      {isOpen && (
        <ColumnDialog
          workspaceId={workspaceId}
          columns={columnsOf(search)}
          known={known}
          change={changeColumns}
          close={() => setOpen(false)}
        />
      )}
    </span>
  );
}

interface SearchFieldProps {
  readonly q: string;
  readonly choose: (q: string) => void;
}

/** What is typed counts after a short rest; the address may change it from outside. */
function SearchField({ q, choose }: SearchFieldProps) {
  const words = useWords(devicesWords);
  const [typed, setTyped] = useState(q);
  const [lastQ, setLastQ] = useState(q);
  if (q !== lastQ) {
    setLastQ(q);
    setTyped(q);
  }
  useEffect(() => {
    if (typed === q) return undefined;
    const timer = setTimeout(() => choose(typed.trim()), typingMs);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only typing starts the wait again
  }, [typed]);
  return (
    <label className={styles['search']}>
      <Search aria-hidden="true" />
      <span className="sr">{words.search}</span>
      <input
        aria-keyshortcuts="/"
        type="search"
        placeholder={words.search}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </label>
  );
}

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices');
const listMs = 15_000;

export function Devices() {
  const { workspaceId } = route.useParams();
  // Views, selection and scroll place of one workspace are not those of another.
  return <DeviceList key={workspaceId} workspaceId={workspaceId} />;
}

function DeviceList({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(devicesWords);
  const kept = useKeptColumns(workspaceId, route.useSearch());
  const search = useMemo(() => knownThen(kept), [kept]);
  const viewed = useMemo(() => withMoment(kept, undefined), [kept]);
  const { at } = search;
  const isPast = at !== undefined;
  const place = useMemo(() => ({ workspaceId, search }), [workspaceId, search]);
  const table = useRef<HTMLDivElement>(null);
  const change = useChange(table);
  const changeColumns = useChangeColumns(place, change);
  const request = useRequest(workspaceId, search);
  const pages = usePages(
    ['devices', request],
    (page, signal) => fetchDevices(request, page, { signal }),
    { everyMs: listMs },
  );
  const values = useDeviceValues(pages.loaded, at);
  const selection = useSelection<Device>(pages, JSON.stringify(request.body));
  const work = useBulkWork();
  const exporting = useExport(request, search);
  const [asked, ask] = useState<Asked>();
  const isSelecting =
    !isPast && (selection.isAll || selection.count > 0 || work.progress !== undefined);
  const showMoment = (moment: string | undefined) => change(withMoment(kept, moment));
  const list = { place, change, changeColumns, total: pages.total };
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      isWide
      actions={
        <ListActions
          showMoment={isPast ? undefined : showMoment}
          request={request}
          total={pages.total}
          // An empty list has these links in its middle.
          isEmpty={pages.total === 0 && !hasCondition(search)}
          exporting={exporting}
        />
      }
    >
      {isPast && <TimeMachine at={at} note={words.past} show={showMoment} />}
      <ViewTabs
        workspaceId={workspaceId}
        search={viewed}
        change={(next) => change(withMoment(next, at))}
        isEditable={!isPast}
      />
      {isSelecting ? (
        <SelectionBar
          place={place}
          selection={selection}
          work={work}
          exporting={exporting}
          asked={asked}
          ask={ask}
          total={pages.total ?? 0}
        />
      ) : (
        <ListTools {...list} known={values.keys} />
      )}
      <Sheet>
        <ShownMoment value={isPast ? Date.parse(at) : undefined}>
          <DeviceTable
            {...{ ...list, request, pages, values }}
            selection={isPast ? undefined : selection}
            askTags={() => ask('tag')}
            box={table}
          />
        </ShownMoment>
      </Sheet>
      {work.failed.length > 0 && <FailedDialog work={work} />}
    </Page>
  );
}

/** Without what the platform knows only of now: which devices have a state, and their order by the last uplink. */
function knownThen(search: DeviceSearch): DeviceSearch {
  if (search.at === undefined) return search;
  const { state: _, sort, ...known } = search;
  return sort === '-name' ? { ...known, sort } : known;
}

/** Without a view and without columns in the address the list has those chosen last. */
function useKeptColumns(workspaceId: string, search: DeviceSearch): DeviceSearch {
  const kept = usePreferences()?.columns?.[workspaceId];
  return useMemo(
    () =>
      search.cols !== undefined || search.view !== undefined || kept === undefined
        ? search
        : { ...search, cols: kept },
    [search, kept],
  );
}

type Change = (search: DeviceSearch) => void;

/** Replaces the address, so that one step back leaves the list; another list begins at its top. */
function useChange(table: RefObject<HTMLElement | null>): Change {
  const navigate = useNavigate();
  const { q, state, filter, sort } = route.useSearch();
  return useCallback(
    (search) => {
      const [next, shown] = [search, { q, state, filter, sort }].map((one) =>
        [one.q, one.state, one.filter, one.sort].join(' '),
      );
      if (next !== shown) table.current?.scroll(0, 0);
      void navigate({ to: '.', search: search as never, replace: true });
    },
    [navigate, table, q, state, filter, sort],
  );
}

type ChangeColumns = (columns: readonly ChosenColumn[]) => void;

/** Columns of the list without a view are kept for the user; a view has its own. */
function useChangeColumns({ workspaceId, search }: ListPlace, change: Change): ChangeColumns {
  return useCallback(
    (columns) => {
      const next = withColumns(search, columns);
      if (search.view === undefined) keepColumns(workspaceId, next.cols);
      change(next);
    },
    [workspaceId, search, change],
  );
}

/** Of workspaces; preferences have a limit of 64 kB. */
const keptMax = 20;

function keepColumns(workspaceId: string, cols: string | undefined): void {
  changePreferences((before) => {
    const { [workspaceId]: kept, ...others } = before.columns ?? {};
    if (kept === cols) return before;
    const newest = Object.entries(others).slice(1 - keptMax);
    if (cols !== undefined) newest.push([workspaceId, cols]);
    return { ...before, columns: Object.fromEntries(newest) };
  });
}

function useRequest(workspaceId: string, search: DeviceSearch): ListRequest {
  const { q, state, filter, sort } = search;
  return useMemo(
    () => ({ body: listBody(workspaceId, search), sort: sortOf(search) }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- columns do not change the request
    [workspaceId, q, state, filter, sort],
  );
}

interface ListActionsProps {
  /** Undefined at an earlier moment, where nothing is changed. */
  readonly showMoment: ((at: string) => void) | undefined;
  readonly request: ListRequest;
  readonly total: number | undefined;
  readonly isEmpty: boolean;
  readonly exporting: ReturnType<typeof useExport>;
}

function ListActions({ showMoment, request, total, isEmpty, exporting }: ListActionsProps) {
  const words = useWords(devicesWords);
  const { workspaceId } = route.useParams();
  const path = `/v3/assets/list?sort=${request.sort}`;
  const curl = <CurlButton request={{ method: 'POST', path, body: request.body }} />;
  if (showMoment === undefined) return curl;
  return (
    <>
      {curl}
      <TimeMachineButton show={showMoment} />
      <Button
        disabled={total === undefined || total === 0 || exporting.progress !== undefined}
        onClick={exporting.exportAll}
      >
        <Download aria-hidden="true" />
        {exporting.progress ?? words.exportCsv}
      </Button>
      <SampleExportButton workspaceId={workspaceId} />
      {!isEmpty && (
        <>
          <ButtonLink to="/w/$workspaceId/devices/import" params={{ workspaceId }}>
            <Upload aria-hidden="true" />
            {words.import}
          </ButtonLink>
          <ButtonLink look="primary" to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
            <Plus aria-hidden="true" />
            {words.register}
          </ButtonLink>
        </>
      )}
    </>
  );
}

function SampleExportButton({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(sampleExportWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <FileDown aria-hidden="true" />
        {words.title}
      </Button>
      {isOpen && <SampleExportDialog selection={{ workspaceId }} close={() => setOpen(false)} />}
    </>
  );
}
