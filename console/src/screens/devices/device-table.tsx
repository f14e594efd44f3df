// Table of the device list, or in its place: nothing yet, nothing that matches, or an error.
import { useNavigate } from '@tanstack/react-router';
import type { RefObject } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { ButtonLink } from '../../parts/button.tsx';
import type { Pages } from '../../parts/rows/use-pages.ts';
import { useNarrow } from '../../parts/rows/use-narrow.ts';
import { SelectableTable } from '../../parts/rows/selectable-table.tsx';
import { Empty, Failure } from '../../parts/states.tsx';
import { useWords } from '../../words/language.tsx';
import { deviceAddress } from './device-cells.tsx';
import type { ChosenColumn } from './columns/column-order.ts';
import { useDeviceColumns } from './device-columns.tsx';
import type { Device, ListRequest } from './device-list.ts';
import type { DeviceSearch } from './device-search.ts';
import type { DeviceValues } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import { NoMatch } from './no-match.tsx';
import type { Selection } from '../../parts/rows/use-selection.ts';

const narrowRowPx = 76;
const rowPadding = { side: 16, gap: 12 } as const;

export interface ListPlace {
  readonly workspaceId: string;
  readonly search: DeviceSearch;
}

interface DeviceTableProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
  readonly changeColumns: (columns: readonly ChosenColumn[]) => void;
  readonly request: ListRequest;
  readonly pages: Pages<Device>;
  readonly values: DeviceValues;
  readonly selection: Selection<Device>;
  /** Opens the dialog for tags of what is selected. */
  readonly askTags: () => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

export function DeviceTable(props: DeviceTableProps) {
  const { place, change, changeColumns, request, pages, values, selection, askTags, box } = props;
  const { workspaceId, search } = place;
  const words = useWords(devicesWords);
  const navigate = useNavigate();
  const isNarrow = useNarrow();
  const columns = useDeviceColumns({ search, change, changeColumns, values, selection, isNarrow });
  const curl = { method: 'POST', path: `/v3/assets/list?sort=${request.sort}`, body: request.body };
  if (pages.total === undefined && pages.error !== null)
    return <Failure error={pages.error} retry={pages.refetch} curl={curl as CurlRequest} />;
  if (pages.total === 0) return <NoDevices place={place} change={change} />;
  return (
    <SelectableTable
      label={words.title}
      columns={columns}
      pages={pages}
      selection={selection}
      keys={{
        e: (device, index) => {
          if (!selection.isAll && selection.count === 0) selection.toggle(device, index, false);
          askTags();
        },
      }}
      open={({ id }) => void navigate({ to: deviceAddress(workspaceId, id) as '/' })}
      narrowRowPx={narrowRowPx}
      leastPx={leastPxOf(columns)}
      box={box}
    />
  );
}

/** Narrower, the table scrolls sideways. */
function leastPxOf(columns: readonly { readonly width: string }[]): number {
  const tracks = columns.map(({ width }) => Number(/\d+/.exec(width)?.[0] ?? 0));
  const around = 2 * rowPadding.side + rowPadding.gap * (columns.length - 1);
  return tracks.reduce((sum, px) => sum + px, around);
}

function NoDevices({ place, change }: Pick<DeviceTableProps, 'place' | 'change'>) {
  const words = useWords(devicesWords);
  const { workspaceId, search } = place;
  const hasCondition = [search.q, search.state, search.filter].some((one) => one !== undefined);
  if (hasCondition) return <NoMatch place={place} change={change} />;
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={
        <>
          <ButtonLink to="/w/$workspaceId/devices/import" params={{ workspaceId }}>
            {words.import}
          </ButtonLink>
          <ButtonLink look="primary" to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
            {words.register}
          </ButtonLink>
        </>
      }
    />
  );
}
