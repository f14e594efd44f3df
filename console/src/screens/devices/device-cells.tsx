// Cells of the device list: name with id, age of the last uplink with a reason, values, battery.
import { useParams, useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Chip, Dot, type DotTone } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Spark } from '../../ui/spark.tsx';
import type { StoredState } from '../../api/stored-state.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import type { Device } from './device-list.ts';
import type { ValueKey } from './device-values.ts';
import { devicesWords } from './devices-words.ts';
import styles from './devices.module.css';

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

export function NameCell({ device, stored, isNarrow }: NameProps) {
  const words = useWords(devicesWords);
  const { id, name, deviceId, onlineState } = device;
  const isStacked = isNarrow || deviceId.length > idBesideMax;
  return (
    <span className={`${styles['name']} ${isStacked ? styles['stacked'] : ''}`}>
      <Dot tone={dotTones[onlineState]} />
      <span className={styles['names']}>
        <DeviceLink id={id} name={name} />
        <span className="sr">{words.states[onlineState]}</span>
        <span className={styles['id']}>
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

export function SeenCell({ device, stored }: Pick<NameProps, 'device' | 'stored'>) {
  const words = useWords(devicesWords);
  const { day, instant } = useFormats();
  const { onlineState, uplinkMetrics } = device;
  const reason = useReason(device);
  const isHeard = uplinkMetrics?.timestamp !== undefined;
  const hasHistory = !isHeard && stored !== undefined;
  const tone = onlineState === 'DE_REGISTERED' ? styles['bad'] : styles['reason'];
  return (
    <span className={styles['seen']}>
      {isHeard && <Ago at={uplinkMetrics.timestamp} />}
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
  if (onlineState === 'OFFLINE') return words.lateReason(formats.duration(onlineTimeout));
  if (onlineState === 'UNKNOWN') return words.neverReason;
  if (onlineState === 'DE_REGISTERED') return words.gone(dataFlow.deviceConnector.name);
  return undefined;
}

export function TagsCell({ tags }: Pick<Device, 'tags'>) {
  const [first, ...others] = tags;
  if (first === undefined) return <span className="faint">–</span>;
  const names = tags.map(({ name }) => name).join(', ');
  return (
    <span className={styles['tags']} title={names}>
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

export function MainValueCell({ main, value, line }: MainValueProps) {
  if (main === undefined) return <span className="faint">–</span>;
  return (
    <span className={styles['main']} title={main.title}>
      <ValueCell value={value} {...(main.unit === undefined ? {} : { unit: main.unit })} />
      <span className={styles['spark']}>{line !== undefined && <Spark points={line} />}</span>
    </span>
  );
}

export function ValueCell({ value, unit }: { readonly value: unknown; readonly unit?: string }) {
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

export function BatteryCell({ device, stored }: Pick<NameProps, 'device' | 'stored'>) {
  const words = useWords(devicesWords);
  const { percent } = useFormats();
  const level = device.uplinkMetrics?.batteryLevel ?? stored?.batteryLevel;
  if (level === undefined) return <span className="faint">–</span>;
  const isLow = level < lowPercent;
  return (
    <span className={`${styles['battery']} ${isLow ? styles['low'] : ''}`}>
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
