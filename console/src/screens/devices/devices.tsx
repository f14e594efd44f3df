// Devices: the list of a workspace with its search, states, columns and work on what is selected.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Download, Plus, Upload } from 'lucide-react';
import { type RefObject, useCallback, useMemo, useRef } from 'react';
import { curlOf } from '../../api/curl.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Page } from '../../parts/page.tsx';
import { partWords } from '../../parts/part-words.ts';
import { usePages } from '../../parts/rows/use-pages.ts';
import { useWords } from '../../words/language.tsx';
import { fetchDevices, type ListRequest } from './device-list.ts';
import { type DeviceSearch, listBody, sortOf } from './device-search.ts';
import { DeviceTable } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';
import { ListTools } from './list-tools.tsx';
import { FailedDialog } from './bulk-dialogs.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useBulkWork } from './bulk-work.ts';
import { useExport } from './use-export.ts';
import { useSelection } from './use-selection.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices');
const listMs = 15_000;

export function Devices() {
  const words = useWords(devicesWords);
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const table = useRef<HTMLDivElement>(null);
  const change = useChange(table);
  const request = useRequest(workspaceId, search);
  const pages = usePages(
    ['devices', request],
    (page, signal) => fetchDevices(request, page, { signal }),
    { everyMs: listMs },
  );
  const selection = useSelection(pages, JSON.stringify(request.body));
  const work = useBulkWork();
  const exporting = useExport(request, search);
  const isSelecting = selection.isAll || selection.count > 0 || work.progress !== undefined;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      isWide
      actions={<ListActions request={request} total={pages.total} exporting={exporting} />}
    >
      {isSelecting ? (
        <SelectionBar
          place={{ workspaceId, search }}
          selection={selection}
          total={pages.total ?? 0}
          work={work}
          exporting={exporting}
        />
      ) : (
        <ListTools search={search} change={change} total={pages.total} />
      )}
      <Sheet>
        <DeviceTable
          place={{ workspaceId, search }}
          change={change}
          request={request}
          pages={pages}
          selection={selection}
          box={table}
        />
      </Sheet>
      {work.failed.length > 0 && <FailedDialog work={work} />}
    </Page>
  );
}

/** Replaces the address, so that one step back leaves the list; another list begins at its top. */
function useChange(table: RefObject<HTMLElement | null>): (search: DeviceSearch) => void {
  const navigate = useNavigate();
  return useCallback(
    (search) => {
      table.current?.scroll(0, 0);
      void navigate({ to: '.', search: search as never, replace: true });
    },
    [navigate, table],
  );
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
  const parts = useWords(partWords);
  const path = `/v3/assets/list?sort=${request.sort}`;
  const curl = curlOf({ method: 'POST', path, body: request.body }, location.origin);
  return (
    <>
      <CopyButton shortcut="c" content={curl}>
        {parts.copyCurl}
      </CopyButton>
      <Button
        disabled={total === undefined || total === 0 || exporting.progress !== undefined}
        onClick={exporting.exportAll}
      >
        <Download aria-hidden="true" />
        {exporting.progress ?? words.exportCsv}
      </Button>
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
