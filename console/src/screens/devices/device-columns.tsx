// Columns of the device list: the standard ones, custom fields, and any value that the devices send.
import { useParams, useRouter } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type MouseEvent, use, useMemo } from 'react';
import { stateThen } from '../../api/state-then.ts';
import type { StoredState } from '../../api/stored-state.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Chip, Dot, type DotTone } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { selectColumn, type Selection } from '../../ui/rows/selectable-table.tsx';
import type { Column } from '../../ui/rows/windowed-table.tsx';
import { Spark } from '../../ui/spark.tsx';
import { Bone } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  type ChosenColumn,
  columnsOf,
  readColumnKey,
  resizedColumn,
  type StandardColumn,
} from './columns/column-order.ts';
import { type Device, fieldOf, typeNameOf } from './device-list.ts';
import type { DeviceSearch } from './device-search.ts';
import type { DeviceValues, ValueKey } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';

interface ColumnParts {
  readonly search: DeviceSearch;
  readonly change: (search: DeviceSearch) => void;
  readonly changeColumns: (columns: readonly ChosenColumn[]) => void;
  readonly values: DeviceValues;
  /** Undefined where no row can be selected. */
  readonly selection: Selection<Device> | undefined;
  readonly isNarrow: boolean;
}

export function useDeviceColumns(parts: ColumnParts): readonly Column<Device>[] {
  const { search, change, changeColumns, values, selection, isNarrow } = parts;
  const words = useWords(devicesWords);
  return useMemo(() => {
    const select = selection === undefined ? [] : [selectColumn(selection, words)];
    const then = (columns: readonly Column<Device>[]) =>
      search.at === undefined ? columns : columns.map(columnThen(search.at, values));
    if (isNarrow)
      return then([...select, nameColumn({ ...parts, words }), narrowValue(values, words)]);
    const chosen = columnsOf(search);
    const shown = chosen.flatMap((column) =>
      columnOf(column.key, { ...parts, words }).map((made) => ({
        ...made,
        ...(column.widthPx === undefined ? {} : { width: `${column.widthPx}px` }),
        resize: (widthPx: number | undefined) =>
          changeColumns(resizedColumn(chosen, column.key, widthPx)),
      })),
    );
    return then([...select, nameColumn({ ...parts, words }), ...shown]);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- its members are named one by one
  }, [search, change, changeColumns, values, selection, isNarrow, words]);
}

/** The column with its devices as they were at the moment, as soon as that is known. */
function columnThen(at: string, values: DeviceValues) {
  return (column: Column<Device>): Column<Device> => ({
    ...column,
    cell(device, index) {
      if (!values.isKnown(device)) return column.bone ?? null;
      const onlineState = stateThen(device, values.storedOf(device)?.lastData, at);
      return column.cell({ ...device, onlineState, uplinkMetrics: null }, index);
    },
  });
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
  place: ({ words }) => ({
    key: 'place',
    width: 'minmax(112px, 1.2fr)',
    header: words.place,
    bone: <Bone width="6em" />,
    cell: ({ place }) => (
      <span className="mute cut" title={place?.path.join(' / ')}>
        {place?.name ?? '–'}
      </span>
    ),
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
    header:
      search.at === undefined ? (
        <SortButton
          label={words.lastSeen}
          order={order}
          onClick={() => change({ ...search, sort: order === 'down' ? '-seen' : 'seen' })}
        />
      ) : (
        words.lastSeen
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
    cell: (device) => (
      <ValueCell
        value={values.valueOf(device, topic, key)}
        at={values.earlierAt(device, topic, key)}
        {...unit}
      />
    ),
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

// Cells of the device list: name with id, age of the last uplink with a reason, values, battery.

const dotTones = {
  ONLINE: 'ok',
  OFFLINE: 'warn',
  UNKNOWN: 'off',
  DE_REGISTERED: 'bad',
} as const satisfies Record<Device['onlineState'], DotTone>;

/** An id of more characters gets its own line, so that it is never cut. */
const idBesideMax = 24;

interface NameProps {
  readonly device: Device;
  readonly stored: StoredState | undefined;
  readonly isNarrow: boolean;
}

function NameCell({ device, stored, isNarrow }: NameProps) {
  const words = useWords(devicesWords);
  const { id, name, deviceId, onlineState } = device;
  const isStacked = isNarrow || deviceId.length > idBesideMax;
  return (
    <span className={`row gap-10 shrinks ${isStacked ? styles['stacked'] : ''}`}>
      <Dot tone={dotTones[onlineState]} />
      <span className={`row gap-10 shrinks grow ${styles['names']}`}>
        <DeviceLink id={id} name={name} />
        <span className="sr">{words.states[onlineState]}</span>
        <span className={`row inline rigid ${styles['id']}`}>
          <span className="mono faint">{deviceId}</span>
          {!isNarrow && <CopyButton content={deviceId} label={words.copyId(deviceId)} />}
        </span>
        {isNarrow && <SeenCell device={device} stored={stored} />}
      </span>
    </span>
  );
}

/** A plain link: the one of the router takes too long for a row of a list that scrolls. */
function DeviceLink({ id, name }: { readonly id: string; readonly name: string }) {
  const { workspaceId = '' } = useParams({ strict: false });
  const { history } = useRouter();
  const href = deviceAddress(workspaceId, id);
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.push(href);
  };
  return (
    <a href={href} title={name} tabIndex={-1} onClick={open}>
      {name}
    </a>
  );
}

/** Address of the page of one device. */
export function deviceAddress(workspaceId: string, id: string): string {
  return `/w/${workspaceId}/devices/${id}`;
}

function SeenCell({ device, stored }: Pick<NameProps, 'device' | 'stored'>) {
  const words = useWords(devicesWords);
  const { day, instant } = useFormats();
  const { onlineState, uplinkMetrics } = device;
  const reason = useReason(device);
  const isPast = use(ShownMoment) !== undefined;
  // Of then only samples are known.
  const heard = isPast ? stored?.lastData : uplinkMetrics?.timestamp;
  const hasHistory = heard === undefined && stored !== undefined;
  const tone =
    onlineState === 'DE_REGISTERED' ? 'ellipsis shrinks warn bad' : 'ellipsis shrinks warn';
  return (
    <span className={`flow gap-8 shrinks mute ${styles['seen']}`}>
      {heard !== undefined && <Ago at={heard} />}
      {hasHistory && (
        <time
          dateTime={stored.lastData}
          title={`${instant(stored.lastData)}, ${words.neverReason}`}
        >
          {words.lastData(day(stored.lastData))}
        </time>
      )}
      {reason !== undefined && <span className={hasHistory ? 'sr' : tone}>{reason}</span>}
    </span>
  );
}

/** Why a device is not online, in a few words. */
function useReason({ onlineState, onlineTimeout, dataFlow }: Device): string | undefined {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const isPast = use(ShownMoment) !== undefined;
  if (onlineState === 'OFFLINE') return words.lateReason(formats.duration(onlineTimeout));
  if (onlineState === 'UNKNOWN') return isPast ? words.noneThen : words.neverReason;
  if (onlineState === 'DE_REGISTERED') return words.gone(dataFlow.deviceConnector.name);
  return undefined;
}

function TagsCell({ tags }: Pick<Device, 'tags'>) {
  const [first, ...others] = tags;
  if (first === undefined) return <span className="faint">–</span>;
  const names = tags.map(({ name }) => name).join(', ');
  return (
    <span className={`row gap-6 shrinks ${styles['tags']}`} title={names}>
      <Chip>{first.name}</Chip>
      {others.length > 0 && (
        <span className="faint">
          <span aria-hidden="true">+{others.length}</span>
          <span className="sr">{others.map(({ name }) => name).join(', ')}</span>
        </span>
      )}
    </span>
  );
}

interface MainValueProps {
  readonly main: ValueKey | undefined;
  readonly value: unknown;
  readonly line: readonly (number | null)[] | undefined;
}

function MainValueCell({ main, value, line }: MainValueProps) {
  if (main === undefined) return <span className="faint">–</span>;
  return (
    <span className={`row justify-end gap-10 ${styles['main']}`} title={main.title}>
      <ValueCell value={value} {...(main.unit === undefined ? {} : { unit: main.unit })} />
      <span className={styles['spark']}>{line !== undefined && <Spark points={line} />}</span>
    </span>
  );
}

interface ValueCellProps {
  readonly value: unknown;
  readonly unit?: string;
  /** Time of a value that newer samples do not have. */
  readonly at?: string | undefined;
}

function ValueCell({ at, ...shown }: ValueCellProps) {
  if (at === undefined) return <PlainValue {...shown} />;
  return (
    <span className="row gap-8">
      <PlainValue {...shown} />
      <small className="faint text-tiny">
        <Ago at={at} />
      </small>
    </span>
  );
}

function PlainValue({ value, unit }: Omit<ValueCellProps, 'at'>) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  if (value === undefined || value === null) return <span className="faint">–</span>;
  if (typeof value === 'boolean') return <span>{value ? words.yes : words.no}</span>;
  if (typeof value === 'string') return <span title={value}>{value}</span>;
  if (typeof value !== 'number') return <span className="mono">{JSON.stringify(value)}</span>;
  return (
    <span className={`${styles['value']} num`}>
      <b>{formats.value(value)}</b>
      {unit !== undefined && <span className="faint"> {unit}</span>}
    </span>
  );
}

const lowPercent = 30;
const batteryWidth = 19;

function BatteryCell({ device, stored }: Pick<NameProps, 'device' | 'stored'>) {
  const words = useWords(devicesWords);
  const { percent } = useFormats();
  const level = device.uplinkMetrics?.batteryLevel ?? stored?.batteryLevel;
  if (level === undefined) return <span className="faint">–</span>;
  const isLow = level < lowPercent;
  return (
    <span className={`row gap-8 mute ${isLow ? 'warn' : ''}`}>
      <svg viewBox="0 0 26 12" width="26" height="12" aria-hidden="true">
        <rect x=".5" y=".5" width="22" height="11" rx="3" fill="none" stroke="currentColor" />
        <rect
          x="2"
          y="2"
          width={(batteryWidth * Math.min(100, Math.max(0, level))) / 100}
          height="8"
          rx="1.6"
          fill="currentColor"
        />
        <rect x="24" y="4" width="2" height="4" rx="1" fill="currentColor" />
      </svg>
      <span className="num">{percent(level)}</span>
      {isLow && <span className="sr">{words.low}</span>}
    </span>
  );
}
