// Columns of the device list: the standard ones, custom fields, and any value that the devices send.
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useMemo } from 'react';
import { Bone } from '../../ui/states.tsx';
import { selectColumn } from '../../ui/rows/select-column.tsx';
import type { Column } from '../../ui/rows/windowed-table.tsx';
import { useWords } from '../../words/language.tsx';
import {
  BatteryCell,
  MainValueCell,
  NameCell,
  SeenCell,
  TagsCell,
  ValueCell,
} from './device-cells.tsx';
import { readColumnKey, type StandardColumn } from './column-keys.ts';
import { type ChosenColumn, columnsOf, resizedColumn } from './columns/column-order.ts';
import { type Device, fieldOf, typeNameOf } from './device-list.ts';
import type { DeviceSearch } from './device-search.ts';
import type { DeviceValues, ValueKey } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import type { Selection } from '../../ui/rows/use-selection.ts';

interface ColumnParts {
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
  readonly changeColumns: (columns: readonly ChosenColumn[]) => void;
  readonly values: DeviceValues;
  readonly selection: Selection<Device>;
  readonly isNarrow: boolean;
}

export function useDeviceColumns(parts: ColumnParts): readonly Column<Device>[] {
  const { search, change, changeColumns, values, selection, isNarrow } = parts;
  const words = useWords(devicesWords);
  return useMemo(() => {
    const select = selectColumn(selection, words);
    if (isNarrow) return [select, nameColumn({ ...parts, words }), narrowValue(values, words)];
    const chosen = columnsOf(search);
    const shown = chosen.flatMap((column) =>
      columnOf(column.key, { ...parts, words }).map((made) => ({
        ...made,
        ...(column.widthPx === undefined ? {} : { width: `${column.widthPx}px` }),
        resize: (widthPx: number | undefined) =>
          changeColumns(resizedColumn(chosen, column.key, widthPx)),
      })),
    );
    return [select, nameColumn({ ...parts, words }), ...shown];
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- its members are named one by one
  }, [search, change, changeColumns, values, selection, isNarrow, words]);
}

type Words = typeof devicesWords.en;
interface WordedParts extends ColumnParts {
  readonly words: Words;
}

function nameColumn({ search, change, words, values, isNarrow }: WordedParts): Column<Device> {
  const isDown = search.sort === '-name';
  const isUp = search.sort === undefined;
  return {
    key: 'name',
    width: isNarrow ? 'minmax(0, 1fr)' : 'minmax(340px, 4fr)',
    bone: <Bone width="14em" />,
    ...(isUp ? { sort: 'ascending' } : {}),
    ...(isDown ? { sort: 'descending' } : {}),
    header: (
      <SortButton
        label={words.device}
        order={isUp ? 'up' : isDown ? 'down' : undefined}
        onClick={() => change(isUp ? { ...search, sort: '-name' } : without(search, 'sort'))}
      />
    ),
    cell: (device) => (
      <NameCell device={device} stored={values.storedOf(device)} isNarrow={isNarrow} />
    ),
  };
}

function columnOf(key: string, parts: WordedParts): readonly Column<Device>[] {
  const named = readColumnKey(key);
  switch (named?.kind) {
    case 'standard':
      return [makers[named.name](parts)];
    case 'field':
      return [fieldColumn(key, named.name)];
    case 'value':
      return [valueColumn(key, named, parts.values)];
    default:
      return [];
  }
}

const makers: Readonly<Record<StandardColumn, (parts: WordedParts) => Column<Device>>> = {
  seen: seenColumn,
  type: ({ words }) => ({
    key: 'type',
    width: 'minmax(128px, 1.4fr)',
    header: words.type,
    bone: <Bone width="7em" />,
    cell: (device) => <span className="mute">{typeNameOf(device) ?? '–'}</span>,
  }),
  tags: ({ words }) => ({
    key: 'tags',
    width: 'minmax(112px, 1fr)',
    header: words.tags,
    bone: <Bone width="5em" />,
    cell: ({ tags }) => <TagsCell tags={tags} />,
  }),
  values: ({ words, values }) => ({
    key: 'values',
    width: '212px',
    header: words.values,
    bone: <Bone width="10em" />,
    cell: (device) => mainCell(device, values),
  }),
  battery: ({ words, values }) => ({
    key: 'battery',
    width: '74px',
    header: words.battery,
    bone: <Bone width="4em" />,
    cell: (device) => <BatteryCell device={device} stored={values.storedOf(device)} />,
  }),
};

function seenColumn({ search, change, words, values }: WordedParts): Column<Device> {
  const order = search.sort === 'seen' ? 'down' : search.sort === '-seen' ? 'up' : undefined;
  return {
    key: 'seen',
    width: 'minmax(112px, 1fr)',
    bone: <Bone width="5em" />,
    ...(order === 'down' ? { sort: 'descending' } : {}),
    ...(order === 'up' ? { sort: 'ascending' } : {}),
    header: (
      <SortButton
        label={words.lastSeen}
        order={order}
        onClick={() => change({ ...search, sort: order === 'down' ? '-seen' : 'seen' })}
      />
    ),
    cell: (device) => <SeenCell device={device} stored={values.storedOf(device)} />,
  };
}

function mainCell(device: Device, values: DeviceValues) {
  const main = values.mainOf(device);
  const value = main === undefined ? undefined : values.valueOf(device, main.topic, main.key);
  return <MainValueCell main={main} value={value} line={values.lineOf(device)} />;
}

function narrowValue(values: DeviceValues, words: Words): Column<Device> {
  return {
    key: 'values',
    width: '92px',
    header: words.values,
    cell: (device) => mainCell(device, values),
  };
}

function fieldColumn(key: string, name: string): Column<Device> {
  return {
    key,
    width: 'minmax(110px, 1fr)',
    header: name,
    cell: (device) => <ValueCell value={fieldOf(device, name)} />,
  };
}

function valueColumn(
  columnId: string,
  { topic, key }: Pick<ValueKey, 'topic' | 'key'>,
  values: DeviceValues,
): Column<Device> {
  const declared = values.keys.find((one) => one.topic === topic && one.key === key);
  const unit = declared?.unit === undefined ? {} : { unit: declared.unit };
  return {
    key: columnId,
    width: 'minmax(100px, 1fr)',
    header: declared?.title ?? key,
    cell: (device) => <ValueCell value={values.valueOf(device, topic, key)} {...unit} />,
  };
}

interface SortButtonProps {
  readonly label: string;
  readonly order: 'up' | 'down' | undefined;
  readonly onClick: () => void;
}

function SortButton({ label, order, onClick }: SortButtonProps) {
  return (
    <button type="button" onClick={onClick}>
      {label}
      {order === 'up' && <ArrowUp aria-hidden="true" />}
      {order === 'down' && <ArrowDown aria-hidden="true" />}
    </button>
  );
}

export function without<K extends keyof DeviceSearch>(search: DeviceSearch, key: K): DeviceSearch {
  const { [key]: _, ...rest } = search;
  return rest;
}
