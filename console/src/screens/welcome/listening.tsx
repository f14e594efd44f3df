// Listening: rings until the first sample, which becomes a value, then its chart and what comes next.
import { useQuery } from '@tanstack/react-query';
import { BellPlus, UserPlus } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import type { LiveSample } from '../../api/stream.ts';
import { LineChart } from '../../charts/line-chart.tsx';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { deviceQuery } from '../device/data/device-queries.ts';
import type { SampleFeed } from '../device/data/sample-feed.ts';
import { connectivities, type Connectivity } from '../devices/register-requests.ts';
import type { Sender } from './send-code.ts';
import { welcomeWords } from './welcome-words.ts';
import styles from './welcome.module.css';

const flashMs = 600;

/** Before there is a device. */
export function Idle() {
  const words = useWords(welcomeWords);
  return (
    <section className={styles['listening']} aria-label={words.idle}>
      <Rings state="idle" />
      <h2>{words.idle}</h2>
      <p className="mute">{words.idleNote}</p>
    </section>
  );
}

interface ListeningProps {
  readonly device: FirstDevice;
  readonly payload: object;
  readonly feed: SampleFeed;
}

export function Listening({ device, payload, feed }: ListeningProps) {
  const words = useWords(welcomeWords);
  const [first] = feed.rows;
  const isShown = useAfterFlash(first !== undefined);
  const send = useSend(device, payload);
  return (
    <section className={styles['listening']} aria-label={words.listening(device.name)}>
      {first !== undefined && isShown ? (
        <Arrived device={device} feed={feed} />
      ) : (
        <>
          <Rings state={first === undefined ? 'waiting' : 'flash'} />
          <h2>{words.listening(device.name)}</h2>
          <p className="mute" role="status">
            {words.nothingYet}
          </p>
        </>
      )}
      {feed.error !== null && <Failure error={feed.error} retry={feed.retry} />}
      <ActionFailure error={send.error} />
      {device.sender !== undefined && (
        <Button
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- Enter is the answer to each step
          autoFocus
          disabled={send.isPending}
          onClick={() => send.mutate(feed.liveCount)}
        >
          {isShown ? words.sendAnother : words.sendForMe}
        </Button>
      )}
      {isShown && <NextSteps device={device} />}
    </section>
  );
}

/** The ring flashes before the value takes its place. */
function useAfterFlash(hasArrived: boolean): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!hasArrived) return undefined;
    const timer = setTimeout(() => setOver(true), flashMs);
    return () => clearTimeout(timer);
  }, [hasArrived]);
  return hasArrived && isOver;
}

function Arrived({ device, feed }: Omit<ListeningProps, 'payload'>) {
  const words = useWords(welcomeWords);
  const formats = useFormats();
  const samples = feed.rows.map(({ sample }) => sample);
  const [newest] = samples;
  const values = newest === undefined ? [] : valuesOf(newest.data);
  const [main, ...others] = values;
  const course = main === undefined ? undefined : courseOf(samples, main.key);
  return (
    <div className={styles['arrived']} role="status">
      <p className="mute">{words.arrived(device.name)}</p>
      {main !== undefined && (
        <p className={styles['value']}>
          {typeof main.value === 'number' ? formats.value(main.value) : String(main.value)}
          <small>{main.key}</small>
        </p>
      )}
      {others.length > 0 && (
        <p className="mute">
          {others.map(({ key, value }) => `${key} ${String(value)}`).join(' · ')}
        </p>
      )}
      <p className="faint">
        {newest !== undefined && words.arrivedAt(formats.clock(newest.timestamp))}
      </p>
      {main !== undefined && course !== undefined && (
        <div className={styles['course']}>
          <LineChart
            times={course.times}
            lines={[{ label: main.key, color: '--c1', values: course.values }]}
            zone={formats.zone}
            height={150}
            label={words.course(main.key)}
          />
        </div>
      )}
      {course === undefined && <p className="faint">{words.secondNote}</p>}
    </div>
  );
}

function NextSteps({ device }: { readonly device: FirstDevice }) {
  const words = useWords(welcomeWords);
  const { workspaceId, id: deviceId, name } = device;
  return (
    <div className={`flow wrap justify-center gap-8 ${styles['next']}`}>
      <ButtonLink
        to="/w/$workspaceId/devices/$deviceId/overview"
        params={{ workspaceId, deviceId }}
        look="primary"
      >
        {words.open(name)}
      </ButtonLink>
      <ButtonLink to="/w/$workspaceId/rules/new" params={{ workspaceId }}>
        <BellPlus aria-hidden="true" />
        {words.addAlarm}
      </ButtonLink>
      <ButtonLink to="/w/$workspaceId/settings/members" params={{ workspaceId }}>
        <UserPlus aria-hidden="true" />
        {words.invite}
      </ButtonLink>
    </div>
  );
}

/** The same request as the command; later numbers differ a little, so that a chart has a course. */
function useSend({ sender }: FirstDevice, payload: object) {
  return useAction({
    mutationFn: (sentBefore: number) => {
      const { secret = '', deviceId = '' } = sender ?? {};
      const query = { secret, deviceId };
      const body = { ...varied(payload, sentBefore) };
      return ask(platform.POST('/v3/capture', { params: { query }, body }));
    },
  });
}

function varied(payload: object, times: number): object {
  if (times === 0 || 'payloadHex' in payload) return payload;
  const shift = (value: unknown) =>
    typeof value === 'number' ? Math.round((value + Math.sin(times)) * 10) / 10 : value;
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, shift(value)]));
}

// Rings: the sun that waits for a reading, and flashes when one arrives.

function Rings({ state }: { readonly state: 'idle' | 'waiting' | 'flash' }) {
  const center = { cx: 100, cy: 100 };
  return (
    <svg className={styles['rings']} data-state={state} viewBox="0 0 200 200" aria-hidden="true">
      {['a', 'b', 'c'].map((name) => (
        <circle key={name} className={`${styles['ring']} ${styles[name]}`} {...center} r="34" />
      ))}
      <circle className={styles['sun']} {...center} r="22" />
    </svg>
  );
}

// Sample values: the values of a sample that can be shown in a line, and the course of one.

interface SampleValue {
  readonly key: string;
  readonly value: number | boolean | string;
}

const shownMax = 6;
const courseMax = 200;

/** Numbers first; members of objects by their path. */
function valuesOf(data: Readonly<Record<string, unknown>>): readonly SampleValue[] {
  const all = leaves(data, '');
  const isNumber = ({ value }: SampleValue) => typeof value === 'number';
  return [...all.filter(isNumber), ...all.filter((one) => !isNumber(one))].slice(0, shownMax);
}

/** Epoch seconds and values, oldest first; undefined for fewer than two. */
function courseOf(
  samples: readonly Pick<LiveSample, 'timestamp' | 'data'>[],
  key: string,
): { readonly times: readonly number[]; readonly values: readonly number[] } | undefined {
  const points = samples
    .slice(0, courseMax)
    .flatMap(({ timestamp, data }) => {
      const value = leaves(data, '').find((one) => one.key === key)?.value;
      return typeof value === 'number' ? [{ at: Date.parse(timestamp) / 1_000, value }] : [];
    })
    .toReversed();
  if (points.length < 2) return undefined;
  return { times: points.map(({ at }) => at), values: points.map(({ value }) => value) };
}

function leaves(data: object, path: string): SampleValue[] {
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) => {
    const key = path + name;
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
      return [{ key, value }];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return leaves(value, `${key}.`);
  });
}

// Hook on the device of the first run: its record, its data flow, and how it sends.

export interface FirstDevice {
  /** Service device id. */
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly typeName: string | undefined;
  readonly isPassThrough: boolean;
  /** Undefined when the caller cannot read the secret. */
  readonly sender: Omit<Sender, 'payload'> | undefined;
  readonly connectivity: Connectivity;
}

export function useFirstDevice(deviceId: string): {
  readonly device: FirstDevice | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
} {
  const record = useQuery(deviceQuery(deviceId));
  const flowId = record.data?.dataFlowId;
  const flow = useQuery({
    queryKey: ['flow', flowId],
    enabled: flowId !== undefined,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/data-flows/{id}', { signal, params: { path: { id: flowId ?? '' } } })),
  });
  const failed = record.error === null ? flow : record;
  const retry = () => void failed.refetch();
  if (record.data === undefined || flow.data === undefined)
    return { device: undefined, error: failed.error, retry };
  const { id, name, workspaceId, deviceId: physicalId } = record.data;
  const { deviceConnector, deviceType, passThrough } = flow.data;
  const connectivity = connectivities.find((one) => one === deviceConnector.connectivity) ?? 'HTTP';
  const secret = deviceConnector.uplinkSecret ?? undefined;
  const sender =
    secret === undefined
      ? undefined
      : { connectivity, deviceId: physicalId, connectorId: deviceConnector.id, secret };
  const typeName = deviceType?.name;
  return {
    device: { id, name, workspaceId, typeName, isPassThrough: passThrough, sender, connectivity },
    error: null,
    retry,
  };
}
