// Home then: the workspace as of an earlier moment: which devices were online, which alarms were open, and what was measured.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, WifiOff } from 'lucide-react';
import { useMemo } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { alarmsKey } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import { stateThen } from '../../api/state-then.ts';
import { type StoredState, storedStates } from '../../api/stored-state.ts';
import { useMay } from '../../session/permissions.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { TimeMachine } from '../../ui/late-time-machine.ts';
import { Page } from '../../ui/page.tsx';
import { Severity } from '../../ui/severity.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DeviceLink, SampleRow } from './arriving.tsx';
import { newestSamples } from './earlier-samples.ts';
import { Figure } from './figure.tsx';
import { homeThenWords } from './home-then-words.ts';
import { homeWords } from './home-words.ts';
import styles from './home.module.css';

interface MomentProps {
  readonly workspaceId: string;
  /** ISO-8601. */
  readonly at: string;
}

interface HomeThenProps extends MomentProps {
  /** Undefined for now. */
  readonly show: (at: string | undefined) => void;
}

export function HomeThen({ workspaceId, at, show }: HomeThenProps) {
  const texts = useWords(homeWords);
  const words = useWords(homeThenWords);
  const { summary, ...devices } = useSummary(workspaceId, at);
  const mayRead = useMay(workspaceId, 'rule', 'read');
  const alarms = useQuery({ ...openThen({ workspaceId, at }), enabled: mayRead });
  const open = mayRead ? alarms.data?.totalElements : 0;
  const error = devices.error ?? alarms.error;
  const page = { name: texts.title, path: [texts.title] };
  const bar = <TimeMachine at={at} note={words.past} show={show} />;
  if ((summary === undefined || open === undefined) && error !== null)
    return (
      <Page title={texts.title} {...page}>
        {bar}
        <Failure
          error={error}
          retry={() => {
            devices.retry();
            if (mayRead) void alarms.refetch();
          }}
          curl={{ path: `/v3/assets?workspaceId=${workspaceId}` }}
        />
      </Page>
    );
  const title = () => {
    if (summary === undefined || open === undefined) return <Bone width="12em" />;
    if (open > 0) return texts.openAlarms(open);
    if (summary.offline.length > 0) return texts.silentDevices(summary.offline.length);
    return mayRead ? texts.quiet : texts.title;
  };
  return (
    <Page title={title()} {...page} lead={summary && texts.heard(summary.online, summary.devices)}>
      {bar}
      <ShownMoment value={Date.parse(at)}>
        <Figures summary={summary} open={open} hasAlarms={mayRead} />
        <div className={`columns align-start gap-16 ${styles['columns']}`}>
          <Samples workspaceId={workspaceId} at={at} summary={summary} />
          {summary !== undefined && (
            <NeedsThen workspaceId={workspaceId} at={at} summary={summary} alarms={alarms.data} />
          )}
        </div>
      </ShownMoment>
    </Page>
  );
}

// Devices of then: those of today, with the state that their newest sample at the moment means.

type DeviceRow = Pick<components['schemas']['Device'], 'id' | 'name' | 'onlineTimeout'>;
const fields = 'id,name,onlineTimeout';
const pageSize = 1_000;
/** Of more devices the first ones by name are read. */
const devicesMax = 5_000;

interface Found {
  readonly rows: readonly DeviceRow[];
  readonly total: number;
}

const rowsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['devices then', workspaceId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Found> => {
      const rows: DeviceRow[] = [];
      for (let page = 0; ; page++) {
        const query = { workspaceId, fields, sort: 'name,asc', page, size: pageSize };
        const answer = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
        rows.push(...answer.content);
        const total = answer.totalElements;
        if (rows.length >= Math.min(total, devicesMax) || answer.content.length === 0)
          return { rows, total };
      }
    },
  });

interface HeardDevice extends DeviceRow {
  /** Time of its newest sample. */
  readonly last: string;
}

interface Summary {
  /** Those that were read. */
  readonly devices: number;
  readonly isCut: boolean;
  readonly online: number;
  /** The last to fall silent first. */
  readonly offline: readonly HeardDevice[];
  /** With a sample in the 7 days before, the newest first. */
  readonly heard: readonly HeardDevice[];
}

function useSummary(workspaceId: string, at: string) {
  const found = useQuery(rowsOf(workspaceId));
  const ids = useMemo(() => found.data?.rows.map(({ id }) => id) ?? [], [found.data]);
  const states = useQuery(storedStates(ids, at));
  const stored = ids.length === 0 ? noStates : states.data;
  const summary = useMemo(
    () => found.data && stored && summaryOf(found.data, stored, at),
    [found.data, stored, at],
  );
  return {
    summary,
    error: found.error ?? states.error,
    retry() {
      void found.refetch();
      if (ids.length > 0) void states.refetch();
    },
  };
}

const noStates: ReadonlyMap<string, StoredState> = new Map();

function summaryOf(
  { rows, total }: Found,
  stored: ReadonlyMap<string, StoredState>,
  at: string,
): Summary {
  const heard = rows
    .flatMap((row): HeardDevice[] => {
      const last = stored.get(row.id)?.lastData;
      return last === undefined ? [] : [{ ...row, last }];
    })
    .toSorted((one, other) => Date.parse(other.last) - Date.parse(one.last));
  const offline = heard.filter((device) => stateThen(device, device.last, at) === 'OFFLINE');
  return {
    devices: rows.length,
    isCut: total > rows.length,
    online: heard.length - offline.length,
    offline,
    heard,
  };
}

// Figures of then.

interface FiguresProps {
  readonly summary: Summary | undefined;
  readonly open: number | undefined;
  readonly hasAlarms: boolean;
}

function Figures({ summary, open, hasAlarms }: FiguresProps) {
  const texts = useWords(homeWords);
  const words = useWords(homeThenWords);
  const { count } = useFormats();
  return (
    <>
      <dl className={styles['figures']}>
        <Figure
          label={texts.alive}
          tone={(summary?.offline.length ?? 0) > 0 ? 'warn' : 'ok'}
          value={summary && count(summary.online)}
          note={summary && texts.of(count(summary.devices))}
        />
        <Figure label={words.offline} value={summary && count(summary.offline.length)} />
        <Figure
          label={words.noData}
          value={summary && count(summary.devices - summary.heard.length)}
        />
        {hasAlarms && (
          <Figure label={words.alarms} value={open === undefined ? undefined : count(open)} />
        )}
      </dl>
      {summary?.isCut === true && <p className="mute">{words.cut(devicesMax)}</p>}
    </>
  );
}

// Samples of then: the newest ones of the devices that were heard last.

const samplesMax = 20;

interface SamplesProps extends MomentProps {
  readonly summary: Summary | undefined;
}

function Samples({ workspaceId, at, summary }: SamplesProps) {
  const words = useWords(homeThenWords);
  const devices = summary?.heard.slice(0, samplesMax) ?? [];
  const deviceIds = devices.map(({ id }) => id);
  const { data } = useQuery({
    queryKey: ['samples then', deviceIds, at],
    enabled: summary !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => newestSamples({ deviceIds, at }, samplesMax, signal),
  });
  const names = new Map(devices.map(({ id, name }) => [id, name]));
  return (
    <Card title={words.samples}>
      <ul className={styles['feed']}>
        {data?.length === 0 && <li className={styles['none']}>{words.noSamples}</li>}
        {data?.map((sample) => (
          <SampleRow
            key={`${sample.deviceId} ${sample.topic}`}
            sample={sample}
            workspaceId={workspaceId}
            name={names.get(sample.deviceId)}
          />
        ))}
      </ul>
    </Card>
  );
}

// What needed attention then: open alarms, and devices that were offline.

const alarmsMax = 6;
const offlineMax = 10;

const openThen = ({ workspaceId, at }: MomentProps) =>
  queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'open then', at],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { workspaceId, openAt: at, size: alarmsMax };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
  });

type OpenAlarms = components['schemas']['AlarmPage'];

interface NeedsProps extends MomentProps {
  readonly summary: Summary;
  /** Undefined while they are on the way, and without permission to read them. */
  readonly alarms: OpenAlarms | undefined;
}

function NeedsThen({ workspaceId, at, summary, alarms }: NeedsProps) {
  const texts = useWords(homeWords);
  const words = useWords(homeThenWords);
  const { count } = useFormats();
  const open = alarms?.totalElements ?? 0;
  const many = open + summary.offline.length;
  const silent = summary.offline.slice(0, offlineMax);
  return (
    <Card title={texts.needs} actions={many > 0 && <Chip>{count(many)}</Chip>}>
      <ul className={styles['needs']}>
        {alarms?.content.map(({ id, name, severity, firstTriggered }) => (
          <li key={id}>
            <Severity of={severity} isQuiet />
            <Link
              to="/w/$workspaceId/alarms/$alarmId"
              params={{ workspaceId, alarmId: id }}
              title={name}
            >
              {name}
            </Link>
            <span className="faint num">
              <Ago at={firstTriggered} />
            </span>
          </li>
        ))}
        {open > 0 && (
          <li>
            <span />
            <Link to="/w/$workspaceId/alarms" params={{ workspaceId }} search={{ at }}>
              {words.allAlarms}
            </Link>
          </li>
        )}
        {silent.map(({ id, name, last }) => (
          <li key={id}>
            <WifiOff className="bad" aria-hidden="true" />
            <DeviceLink id={id} workspaceId={workspaceId}>
              {texts.silent(name)}
            </DeviceLink>
            <span className="faint num">
              <Ago at={last} />
            </span>
          </li>
        ))}
        {silent.length > 0 && (
          <li>
            <span />
            <Link to="/w/$workspaceId/devices" params={{ workspaceId }} search={{ at }}>
              {words.allDevices}
            </Link>
          </li>
        )}
        {many === 0 && (
          <li className="mute">
            <CircleCheck className="ok" aria-hidden="true" />
            {texts.nothing}
          </li>
        )}
      </ul>
    </Card>
  );
}
