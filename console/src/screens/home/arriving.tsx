// Live data: the samples of the workspace as they are stored, at most some a second.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { type LiveSample, useStream } from '../../api/stream.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { usePageActions } from '../../ui/page.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { homeWords } from './home-words.ts';
import styles from './home.module.css';

const shownMax = 20;
const valuesMax = 3;
const perSecond = 20;

interface Arrived {
  /** Counts what arrives; undefined for samples from before. */
  readonly number?: number;
  readonly sample: LiveSample;
}

export function Arriving({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(homeWords);
  const formats = useFormats();
  const [since] = useState(() => new Date().toISOString());
  const [isPaused, setPaused] = useState(false);
  const [arrived, setArrived] = useState<readonly Arrived[]>([]);
  const last = useRef(0);
  useStream(
    { workspaceId, kinds: ['SAMPLE'], perSecond },
    {
      onSample(sample) {
        const number = ++last.current;
        if (!isPaused) setArrived((rows) => [{ number, sample }, ...rows].slice(0, shownMax));
      },
    },
  );
  const earlier = useEarlier(workspaceId);
  const rows = withEarlier(arrived, earlier);
  const nameOf = useNames(
    workspaceId,
    rows.map(({ sample }) => sample.deviceId),
  );
  const toggle = useCallback(() => setPaused((before) => !before), []);
  const pauseLabel = isPaused ? words.resume : words.pause;
  usePageActions(useMemo(() => [{ label: pauseLabel, run: toggle }], [pauseLabel, toggle]));
  const openedAt = formats.clock(since);
  return (
    <Card
      title={words.arriving}
      note={
        earlier.length === 0 ? words.since(openedAt) : words.sinceWith(openedAt, earlier.length)
      }
      mark={<Dot tone="live" beat={arrived[0]?.number ?? 0} />}
      actions={
        <Button look="ghost" isIcon aria-label={pauseLabel} aria-keyshortcuts="l" onClick={toggle}>
          {isPaused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
        </Button>
      }
    >
      <ul className={styles['feed']}>
        {rows.length === 0 && <li className={styles['none']}>{words.waitingForSample}</li>}
        {rows.map(({ number, sample }) => (
          <SampleRow
            key={number ?? keyOf(sample)}
            isFresh={number !== undefined}
            sample={sample}
            workspaceId={workspaceId}
            name={nameOf(sample.deviceId)}
          />
        ))}
      </ul>
    </Card>
  );
}

const keyOf = ({ deviceId, topic, timestamp }: LiveSample) => `${deviceId} ${topic} ${timestamp}`;
const nothing: readonly LiveSample[] = [];

function useEarlier(workspaceId: string): readonly LiveSample[] {
  const found = useQuery({
    queryKey: ['earlier samples', workspaceId],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { earlierSamples } = await import('./earlier-samples.ts');
      return earlierSamples(workspaceId, shownMax, signal);
    },
  });
  return found.data ?? nothing;
}

/** A sample that arrived while the earlier ones were asked for is shown once. */
function withEarlier(arrived: readonly Arrived[], earlier: readonly LiveSample[]) {
  const keys = new Set(arrived.map(({ sample }) => keyOf(sample)));
  const before = earlier.filter((sample) => !keys.has(keyOf(sample)));
  return [...arrived, ...before.map((sample): Arrived => ({ sample }))].slice(0, shownMax);
}

interface SampleRowProps {
  readonly sample: LiveSample;
  readonly isFresh?: boolean;
  readonly workspaceId: string;
  readonly name: string | undefined;
}

/** With its age where the page shows an earlier moment, from which it may be days away. */
export function SampleRow({ sample, isFresh = false, workspaceId, name }: SampleRowProps) {
  const formats = useFormats();
  const isPast = use(ShownMoment) !== undefined;
  const { deviceId, topic, timestamp, data } = sample;
  const values = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  return (
    <li className={isFresh ? styles['fresh'] : undefined} data-past={isPast}>
      {isPast ? (
        <span className="faint">
          <Ago at={timestamp} />
        </span>
      ) : (
        <time className="num faint" dateTime={timestamp}>
          {formats.clock(timestamp)}
        </time>
      )}
      <DeviceLink id={deviceId} workspaceId={workspaceId}>
        {name ?? deviceId}
      </DeviceLink>
      <span className="faint">{topic === 'default' ? '' : topic}</span>
      <span className={styles['values']}>
        {values.slice(0, valuesMax).map(([key, value]) => (
          <span key={key}>
            <span className="faint">{key}</span>{' '}
            <b className="num">
              {typeof value === 'number' ? formats.value(value) : String(value)}
            </b>
          </span>
        ))}
      </span>
    </li>
  );
}

/** Names of the devices that are shown. */
function useNames(
  workspaceId: string,
  deviceIds: readonly string[],
): (deviceId: string) => string | undefined {
  const assetIds = [...new Set(deviceIds)].sort();
  const found = useQuery({
    queryKey: ['names', workspaceId, assetIds],
    enabled: assetIds.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/assets', {
          signal,
          params: { query: { workspaceId, assetIds, size: shownMax } },
        }),
      ),
  });
  const known = new Map(found.data?.content.map(({ id, name }) => [id, name]));
  // An id in place of a name that is on its way would flash.
  const unknown = found.isPending || found.isPlaceholderData ? '…' : undefined;
  return (id) => known.get(id) ?? unknown;
}

interface DeviceLinkProps {
  readonly id: string;
  readonly workspaceId: string;
  readonly children: ReactNode;
}

export function DeviceLink({ id, workspaceId, children }: DeviceLinkProps) {
  return (
    <Link to="/w/$workspaceId/devices/$deviceId" params={{ workspaceId, deviceId: id }}>
      {children}
    </Link>
  );
}
