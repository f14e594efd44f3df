// Devices: the list of a workspace with its views, conditions, columns and work on what is selected.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Download, FileDown, Plus, Upload } from 'lucide-react';
import { type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { Page } from '../../parts/page.tsx';
import { usePages } from '../../parts/rows/use-pages.ts';
import { useWords } from '../../words/language.tsx';
import { type Device, fetchDevices, type ListRequest } from './device-list.ts';
import { type DeviceSearch, listBody, sortOf } from './device-search.ts';
import { DeviceTable, type ListPlace } from './device-table.tsx';
import { type ChosenColumn, withColumns } from './columns/column-order.ts';
import { devicesWords } from './devices-words.ts';
import { ListTools } from './list-tools.tsx';
import { FailedDialog } from './bulk-dialogs.tsx';
import { SampleExportDialog } from './sample-export-dialog.tsx';
import { sampleExportWords } from './sample-export-words.ts';
import { type Asked, SelectionBar } from './selection-bar.tsx';
import { useBulkWork } from './bulk-work.ts';
import { useExport } from './use-export.ts';
import { useSelection } from '../../parts/rows/use-selection.ts';
import { useDeviceValues } from './device-values.ts';
import { ViewTabs } from './views/view-tabs.tsx';
import { changePreferences, usePreferences } from '../../session/preferences.ts';
import { CurlButton } from '../../parts/curl-button.tsx';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices');
const listMs = 15_000;

export function Devices() {
  const { workspaceId } = route.useParams();
  // Views, selection and scroll place of one workspace are not those of another.
  return <DeviceList key={workspaceId} workspaceId={workspaceId} />;
}

function DeviceList({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(devicesWords);
  const search = useKeptColumns(workspaceId, route.useSearch());
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
  const values = useDeviceValues(pages.loaded);
  const selection = useSelection<Device>(pages, JSON.stringify(request.body));
  const work = useBulkWork();
  const exporting = useExport(request, search);
  const [asked, ask] = useState<Asked>();
  const isSelecting = selection.isAll || selection.count > 0 || work.progress !== undefined;
  const list = { place, change, changeColumns, total: pages.total };
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      isWide
      actions={<ListActions request={request} total={pages.total} exporting={exporting} />}
    >
      <ViewTabs {...place} change={change} />
      {isSelecting ? (
        <SelectionBar
          {...{ place, selection, work, exporting, asked, ask }}
          total={pages.total ?? 0}
        />
      ) : (
        <ListTools {...list} known={values.keys} />
      )}
      <Sheet>
        <DeviceTable
          {...{ ...list, request, pages, values, selection }}
          askTags={() => ask('tag')}
          box={table}
        />
      </Sheet>
      {work.failed.length > 0 && <FailedDialog work={work} />}
    </Page>
  );
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
  readonly request: ListRequest;
  readonly total: number | undefined;
  readonly exporting: ReturnType<typeof useExport>;
}

function ListActions({ request, total, exporting }: ListActionsProps) {
  const words = useWords(devicesWords);
  const { workspaceId } = route.useParams();
  const path = `/v3/assets/list?sort=${request.sort}`;
  return (
    <>
      <CurlButton request={{ method: 'POST', path, body: request.body }} />
      <Button
        disabled={total === undefined || total === 0 || exporting.progress !== undefined}
        onClick={exporting.exportAll}
      >
        <Download aria-hidden="true" />
        {exporting.progress ?? words.exportCsv}
      </Button>
      <SampleExportButton workspaceId={workspaceId} />
      <ButtonLink to="/w/$workspaceId/devices/import" params={{ workspaceId }}>
        <Upload aria-hidden="true" />
        {words.import}
      </ButtonLink>
      <ButtonLink look="primary" to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
        <Plus aria-hidden="true" />
        {words.register}
      </ButtonLink>
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
