// Overview of a device: its values, the course of one of them, what arrives, and what it is.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { answers } from '../../../api/answers.ts';
import { ask, platform, Refusal } from '../../../api/platform.ts';
import type { StoredState } from '../../../api/stored-state.ts';
import { Card, Sheet } from '../../../ui/card.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { Segments } from '../../../ui/choice.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { late } from '../../../ui/late.tsx';
import { Answered, Bone, CodeBlock, Empty } from '../../../ui/states.tsx';
import { coordinates } from '../../../words/coordinates.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import type { Language } from '../../../words/word-set.ts';
import {
  colorOf,
  type DataKey,
  dataKeysOf,
  type TopicSchemas,
  topicsOf,
  valueAt,
} from '../data/data-keys.ts';
import {
  type Device,
  lastValuesQuery,
  newestQuery,
  schemaQuery,
  seriesQuery,
  useStoredState,
} from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import { LiveTail } from '../live-tail.tsx';
import { firstReading } from './first-reading.ts';
import styles from './overview.module.css';
import { ValueChart } from './value-chart.tsx';
import { Ago } from '../../../ui/ago.tsx';
import { Button } from '../../../ui/button.tsx';
import { Spark } from '../../../ui/spark.tsx';
import { type FeedRow, newestByTopic } from '../data/sample-feed.ts';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';

export function Overview() {
  const { device, feed } = useDeviceFrame();
  const schema = useQuery(schemaQuery(device.id));
  useNewKeys(schema.data);
  const isSilent = device.uplinkMetrics === null && feed.rows.length === 0 && !feed.isLoading;
  return (
    <>
      {isSilent ? (
        <NeverHeard />
      ) : (
        <Answered
          answer={schema}
          curl={{ path: `/v3/devices/${device.id}/infer-schema` }}
          skeleton={<TileBones />}
        >
          {(schemas) => {
            const topics = topicsOf(schemas);
            return <Values topics={topics} keysOf={(topic) => dataKeysOf(schemas, topic)} />;
          }}
        </Answered>
      )}
      <div className={`columns align-start gap-16 ${styles['lower']}`}>
        <LiveTail isTall={false} />
        <AboutDevice />
      </div>
    </>
  );
}

/** A sample with a key that the schema does not have yet makes it old. */
function useNewKeys(schemas: TopicSchemas | undefined): void {
  const { device, feed } = useDeviceFrame();
  const sample = feed.rows.find(({ isLive }) => isLive)?.sample;
  useEffect(() => {
    if (schemas === undefined || sample === undefined) return;
    const known = schemas[sample.topic]?.properties ?? {};
    const isNew = Object.keys(sample.data).some((key) => !Object.hasOwn(known, key));
    if (isNew) void answers.invalidateQueries(schemaQuery(device.id));
  }, [schemas, sample, device.id]);
}

interface ValuesProps {
  readonly topics: readonly string[];
  readonly keysOf: (topic: string) => readonly DataKey[];
}

function Values({ topics, keysOf }: ValuesProps) {
  const words = useWords(deviceWords);
  const search = useSearch({ from: deviceRoute });
  const navigate = useNavigate({ from: '/w/$workspaceId/devices/$deviceId/overview' });
  const topic = topics.find((one) => one === search.topic) ?? topics[0] ?? 'default';
  const keys = keysOf(topic);
  const numbers = keys.filter(({ isNumber }) => isNumber);
  const shown = numbers.find(({ key }) => key === search.key) ?? numbers[0];
  const show = (change: { topic?: string; key?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      {topics.length > 1 && (
        <div className={styles['topics']}>
          <Segments
            label={words.topic}
            options={topics.map((one) => ({ value: one, label: one }))}
            value={topic}
            choose={(chosen) => show({ topic: chosen })}
          />
        </div>
      )}
      <ValueTiles keys={keys} shown={shown} choose={(key) => show({ topic, key })} />
      <ValueChart shown={shown} colorAt={shown === undefined ? 0 : numbers.indexOf(shown)} />
    </>
  );
}

function TileBones() {
  return (
    <div className={styles['tiles']}>
      {['a', 'b', 'c', 'd'].map((name) => (
        <div key={name} className={styles['tile']}>
          <Bone width="5em" />
          <Bone width="7em" />
        </div>
      ))}
    </div>
  );
}

// Never heard: how exactly this device sends its first reading, by its own connection.

function NeverHeard() {
  const words = useWords(deviceWords);
  const { device } = useDeviceFrame();
  const { id } = device.dataFlow.deviceConnector;
  const connector = useQuery({
    queryKey: ['connector', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-connectors/{id}', { signal, params: { path: { id } } })),
  });
  const secret = connector.data?.uplinkSecret ?? undefined;
  const isHidden = !connector.isPending && secret === undefined;
  const command = firstReading(device, secret, location);
  return (
    <Sheet>
      <Empty
        title={words.neverHeard(device.name)}
        note={words.neverHeardNote[device.connectivity]}
        actions={
          <>
            <CodeBlock code={command} />
            <CopyButton content={command} />
            {isHidden && <p className="mute">{words.secretHidden}</p>}
          </>
        }
      />
    </Sheet>
  );
}

// About a device: where it belongs, how it connects, and its last measures of itself.

function AboutDevice() {
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
  async () => (await import('../../../map/world-map.tsx')).DevicePlace,
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
        workspaceId={device.workspaceId}
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

// Value tiles: the newest value of each data key with its unit and the course of 24 hours.

const firstTiles = 12;
/** Lines of one request stay far below the points that an answer may have. */
const linesMax = 200;
const lineBucket = 'PT30M';
const lineMs = 300_000;

interface ValueTilesProps {
  readonly keys: readonly DataKey[];
  readonly shown: DataKey | undefined;
  readonly choose: (key: string) => void;
}

export function ValueTiles({ keys, shown, choose }: ValueTilesProps) {
  const words = useWords(deviceWords);
  const { device, feed } = useDeviceFrame();
  const [isWhole, setWhole] = useState(false);
  const newest = useQuery(newestQuery(device.id));
  const lines = useLines(device.id, keys);
  const names = useMemo(() => [...new Set(keys.map(({ key }) => key))], [keys]);
  const last = useQuery(lastValuesQuery(device.id, names)).data ?? {};
  const samples = useMemo(
    () => newestByTopic(feed.rows, newest.data ?? []),
    [feed.rows, newest.data],
  );
  const numbers = keys.filter(({ isNumber }) => isNumber);
  const visible = isWhole ? keys : keys.slice(0, firstTiles);
  return (
    <div className={styles['tiles']} role="group" aria-label={words.values}>
      {visible.map((dataKey) => {
        const line = lines.get(dataKey.key);
        const sample = samples.get(dataKey.topic);
        const value = sample === undefined ? undefined : valueAt(sample.data, dataKey.key);
        const earlier = last[dataKey.key];
        const before = earlier?.topic === dataKey.topic ? earlier : undefined;
        const current =
          value === undefined || value === null ? undefined : { value, at: sample?.timestamp };
        const known =
          current ??
          lastKnown(feed.rows, dataKey) ??
          (before && { value: before.value, at: before.timestamp });
        return (
          <Tile
            key={dataKey.key}
            dataKey={dataKey}
            value={known?.value ?? line?.last}
            at={known?.at}
            points={line?.average}
            color={colorOf(numbers.indexOf(dataKey))}
            isShown={dataKey === shown}
            isLoading={newest.isPending && sample === undefined}
            choose={choose}
          />
        );
      })}
      {visible.length < keys.length && (
        <Button look="ghost" onClick={() => setWhole(true)}>
          {words.showAll(keys.length)}
        </Button>
      )}
    </div>
  );
}

/** The newest sample can lack the key. */
function lastKnown(rows: readonly FeedRow[], { topic, key }: DataKey): Known | undefined {
  const has = ({ sample }: FeedRow) =>
    sample.topic === topic && (valueAt(sample.data, key) ?? null) !== null;
  const found = rows.find(has)?.sample;
  return found && { value: valueAt(found.data, key), at: found.timestamp };
}

/** A value and the time of its sample. */
interface Known {
  readonly value: unknown;
  readonly at: string | undefined;
}

interface TileProps {
  readonly dataKey: DataKey;
  readonly value: unknown;
  /** Time of the sample with the value; undefined when it is not known. */
  readonly at: string | undefined;
  readonly points: readonly (number | null)[] | undefined;
  readonly color: `--${string}`;
  readonly isShown: boolean;
  readonly isLoading: boolean;
  readonly choose: (key: string) => void;
}

function Tile({ dataKey, value, at, points, color, isShown, isLoading, choose }: TileProps) {
  const words = useWords(deviceWords);
  const { title, unit, key, isNumber, isInferred } = dataKey;
  const content = (
    <>
      <span className="cut mute text-label" title={isInferred ? `${key} (${words.inferred})` : key}>
        {title}
        {isInferred && (
          <span className={styles['inferred']}>
            <span aria-hidden="true">*</span>
            <span className="sr">{words.inferred}</span>
          </span>
        )}
      </span>
      <b className={`${styles['value']} num`}>
        {isLoading ? <Bone width="3em" /> : <Value value={value} />}
        {value !== undefined && unit !== '' && <span className={styles['unit']}>{unit}</span>}
      </b>
      <small className="faint text-tiny">{at !== undefined && <Ago at={at} />}</small>
      {isNumber && (
        <span className={styles['line']}>
          <Spark points={points ?? []} color={`var(${color})`} />
        </span>
      )}
    </>
  );
  if (!isNumber) return <div className={styles['tile']}>{content}</div>;
  return (
    <button
      type="button"
      className={styles['tile']}
      aria-pressed={isShown}
      onClick={() => choose(key)}
    >
      {content}
    </button>
  );
}

function Value({ value }: { readonly value: unknown }) {
  const words = useWords(deviceWords);
  const formats = useFormats();
  if (value === undefined || value === null) return words.none;
  if (typeof value === 'number') return formats.value(value);
  if (typeof value === 'boolean') return value ? words.isTrue : words.isFalse;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Line {
  readonly average: readonly (number | null)[];
  /** The last value of the 24 hours. */
  readonly last: number | undefined;
}

function useLines(deviceId: string, keys: readonly DataKey[]): ReadonlyMap<string, Line> {
  const wanted = keys.filter(({ isNumber }) => isNumber).slice(0, linesMax);
  const names = wanted.map(({ topic, key }) => [topic, key]);
  const lines = useQuery({
    ...seriesQuery(
      ['lines', deviceId, names],
      (nowMs) => ({
        series: wanted.map(({ topic, key }) => ({
          deviceId,
          topic,
          dataKey: key,
          accumulators: ['AVG', 'LAST'],
        })),
        interval: isoInterval(intervalOf({ range: '24h' }, nowMs)),
        bucketInterval: lineBucket,
      }),
      lineMs,
    ),
    enabled: wanted.length > 0,
  });
  return useMemo(() => {
    const found = lines.data?.series ?? [];
    return new Map(
      found.map(({ dataKey, dataPoints }) => [
        dataKey ?? '',
        {
          average: dataPoints['AVG'] ?? [],
          last: dataPoints['LAST']?.findLast((point) => point !== null) ?? undefined,
        },
      ]),
    );
  }, [lines.data]);
}
