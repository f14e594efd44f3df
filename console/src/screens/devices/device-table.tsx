// Table of the device list, or in its place: nothing yet, nothing that matches, or an error.
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { RefObject } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { SelectableTable, type Selection } from '../../ui/rows/selectable-table.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import type { Pages } from '../../ui/rows/use-pages.ts';
import { Empty, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { ChosenColumn } from './columns/column-order.ts';
import { deviceAddress, useDeviceColumns, without } from './device-columns.tsx';
import {
  countDevices,
  type Device,
  encodeFilter,
  hasCondition,
  listBody,
  type ListRequest,
} from './device-list.ts';
import { decodeFilter, type DeviceSearch } from './device-search.ts';
import type { DeviceValues } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import { useSentence } from './filter/filter-chips.tsx';
import { expressionAt, leafPaths, pruned, replacedAt, rootOf } from './filter/filter.ts';
import { filterWords } from './filter/filter-words.ts';

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
  /** Undefined at an earlier moment, where nothing is changed. */
  readonly selection: Selection<Device> | undefined;
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
  const tag = (chosen: Selection<Device>) => (device: Device, index: number) => {
    if (!chosen.isAll && chosen.count === 0) chosen.toggle(device, index, false);
    askTags();
  };
  return (
    <SelectableTable
      label={words.title}
      columns={columns}
      pages={pages}
      selection={selection}
      keys={selection === undefined ? {} : { e: tag(selection) }}
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
  if (hasCondition(search)) return <NoMatch place={place} change={change} />;
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

// No match: which one condition of the list keeps the most devices out.

/** Each costs a count. */
const removalsMax = 8;

interface Removal {
  readonly label: string;
  readonly search: DeviceSearch;
}

interface NoMatchProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
}

function NoMatch({ place, change }: NoMatchProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const best = useBest(place.workspaceId, useRemovals(place));
  if (best === undefined) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  return (
    <Empty
      title={words.noMatch}
      note={words.noMatchNote}
      actions={
        <Button onClick={() => change(best.search)}>
          {best.label}: {words.count(formats.count(best.count), best.count)}
        </Button>
      }
    />
  );
}

/** The list without one of its conditions each. */
function useRemovals({ workspaceId, search }: ListPlace): readonly Removal[] {
  const words = useWords(devicesWords);
  const filterTexts = useWords(filterWords);
  const sentence = useSentence(workspaceId);
  const root = rootOf(search.filter === undefined ? undefined : decodeFilter(search.filter));
  const ofFilter = leafPaths(root).map((path): Removal => {
    const leaf = expressionAt(root, path);
    const rest = pruned(replacedAt(root, path, undefined), () => true);
    return {
      label: filterTexts.without(leaf === undefined ? '' : sentence(leaf)),
      search:
        rest === undefined ? without(search, 'filter') : { ...search, filter: encodeFilter(rest) },
    };
  });
  const named = [
    { name: 'q', label: words.withoutText(search.q ?? '') },
    { name: 'state', label: words.withoutState },
  ] as const;
  const others = named
    .filter(({ name }) => search[name] !== undefined)
    .map(({ name, label }): Removal => ({ label, search: without(search, name) }));
  return [...others, ...ofFilter].slice(0, removalsMax);
}

/** The removal after which the list has the most devices; undefined while none is known. */
function useBest(workspaceId: string, removals: readonly Removal[]) {
  const counts = useQueries({
    queries: removals.map(({ search }) => {
      const body = listBody(workspaceId, search);
      return {
        queryKey: ['devices', 'count', body],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => countDevices(body, signal),
      };
    }),
  });
  const counted = removals.map((removal, at) => ({ ...removal, count: counts[at]?.data ?? 0 }));
  return counted.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)[0];
}
