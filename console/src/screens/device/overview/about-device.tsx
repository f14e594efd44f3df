// About a device: where it belongs, how it connects, and its last measures of itself.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Refusal } from '../../../api/refusal.ts';
import { Card } from '../../../parts/card.tsx';
import { Chip } from '../../../parts/chip.tsx';
import { late } from '../../../parts/late.tsx';
import { Bone } from '../../../parts/states.tsx';
import { coordinates } from '../../../words/coordinates.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import type { Language } from '../../../words/word-set.ts';
import type { StoredState } from '../../../api/stored-state.ts';
import { type Device, useStoredState } from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';

export function AboutDevice() {
  const words = useWords(deviceWords);
  const formats = useFormats();
  const { language } = useLanguage();
  const { device, zone } = useDeviceFrame();
  const { dataFlow, uplinkMetrics: metrics } = device;
  const stored = useStoredState(device);
  const battery = metrics?.batteryLevel ?? stored?.batteryLevel;
  const signal = metrics?.signalQuality ?? null;
  return (
    <Card title={words.about}>
      <PlaceOfDevice device={device} stored={stored} />
      <dl className={styles['facts']}>
        <Fact name={words.description} value={device.description} />
        <Fact name={words.connection} value={device.connectivity} />
        <Fact name={words.flow} value={dataFlow.name} />
        <Fact name={words.type} value={dataFlow.deviceType?.name} />
        <Fact name={words.connector} value={dataFlow.deviceConnector.name} />
        <Fact name={words.credentials} value={<Credentials device={device} />} />
        <Fact name={words.silentAfter} value={formats.duration(device.onlineTimeout)} />
        <Fact
          name={words.battery}
          value={typeof battery === 'number' ? formats.percent(battery) : null}
        />
        <Fact name={words.signal} value={signal === null ? null : words.signals[signal]} />
        <Fact name={words.position} value={positionOf({ device, stored }, language)} />
        <Fact name={words.tags} value={tagsOf(device)} />
        {device.customFields.map((field) => (
          <Fact key={field.fieldMetaId} name={field.fieldMetaName} value={fieldValue(field)} />
        ))}
        <Fact name={words.registered} value={formats.day(device.created, zone)} />
      </dl>
    </Card>
  );
}

const DevicePlace = late(
  'DevicePlace',
  async () => (await import('../../../map/device-place.tsx')).DevicePlace,
);

interface StateProps {
  readonly device: Device;
  readonly stored: StoredState | undefined;
}

/** A small map, for a device whose position is known. */
function PlaceOfDevice({ device, stored }: StateProps) {
  const { name, onlineState } = device;
  const { latitude = null, longitude = null } = device.uplinkMetrics ?? stored?.position ?? {};
  if (latitude === null || longitude === null) return null;
  return (
    <div className={styles['place']}>
      <DevicePlace
        name={name}
        latitude={latitude}
        longitude={longitude}
        state={placeStates[onlineState]}
      />
    </div>
  );
}

const placeStates = {
  ONLINE: 'online',
  OFFLINE: 'silent',
  UNKNOWN: 'never',
  DE_REGISTERED: 'never',
} as const;

/** A fact that is not known is not shown. */
function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  if (value === null || value === undefined || value === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Credentials({ device: { id } }: { readonly device: Device }) {
  const words = useWords(deviceWords);
  const answer = useQuery({
    queryKey: ['credentials', id],
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/device-authorization/devices/{id}/credentials', {
          signal,
          params: { path: { id } },
        }),
      ),
  });
  if (answer.error !== null)
    return answer.error instanceof Refusal ? answer.error.message : words.none;
  if (answer.data === undefined) return <Bone width="6em" />;
  const count = answer.data.totalElements;
  return count === 0 ? words.sharedSecret : words.ownKeys(count);
}

function positionOf({ device, stored }: StateProps, language: Language): string | null {
  const { latitude = null, longitude = null } = device.uplinkMetrics ?? stored?.position ?? {};
  return latitude === null || longitude === null
    ? null
    : coordinates(latitude, longitude, language);
}

function tagsOf({ tags }: Device): ReactNode {
  return tags.length === 0 ? null : tags.map(({ id, name }) => <Chip key={id}>{name}</Chip>);
}

function fieldValue({ meta: { type }, ...values }: Device['customFields'][number]): string {
  const value: unknown = values[type];
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
