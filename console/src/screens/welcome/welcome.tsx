// Welcome: from nothing to the first reading of a device in four steps, or to a workspace of the demo.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BellPlus, Sprout, UserPlus } from 'lucide-react';
import { useEffect, useState } from 'react';
import { curlOf } from '../../api/curl.ts';
import { ask, platform } from '../../api/platform.ts';
import { overviewOf, skipWelcome } from '../../session/first-run.ts';
import { useAccount, useWorkspaceId } from '../../session/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Bone, CodeBlock, Empty, Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { type SampleFeed, useSampleFeed } from '../device/data/sample-feed.ts';
import { sendCode, type Sender, type SendTool, sendTools } from './send-code.ts';
import { keptSetup, type Made } from './setup-requests.ts';
import { SetupSteps, Step, useAbout } from './setup-steps.tsx';
import { welcomeWords } from './welcome-words.ts';
import styles from './welcome.module.css';
import type { LiveSample } from '../../api/stream.ts';
import { LineChart } from '../../charts/line-chart.tsx';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { deviceQuery } from '../device/data/device-queries.ts';
import { connectivities, type Connectivity } from '../devices/register-requests.ts';

export function Welcome() {
  const words = useWords(welcomeWords);
  const workspaceId = useWorkspaceId();
  const { device } = useSearch({ from: '/signed-in/shell/welcome' });
  const { permissions } = useAccount();
  const mayDo = (scope: string) => permissions[workspaceId]?.[scope]?.includes('create') === true;
  const skip = (
    <Link
      className={styles['skip']}
      to="/w/$workspaceId"
      params={{ workspaceId }}
      onClick={() => skipWelcome(workspaceId)}
    >
      {words.skip}
    </Link>
  );
  return (
    <Page
      title={words.title}
      lead={words.lead}
      name={words.page}
      path={[words.page]}
      actions={skip}
    >
      {mayDo('asset') && mayDo('dataFlow') ? (
        <div className={styles['columns']}>
          {device === undefined ? (
            <Beginning workspaceId={workspaceId} />
          ) : (
            <WithDevice key={device} deviceId={device} />
          )}
        </div>
      ) : (
        <Empty title={words.forbidden} note={words.forbiddenNote} />
      )}
    </Page>
  );
}

function Beginning({ workspaceId }: { readonly workspaceId: string }) {
  const navigate = useNavigate({ from: '/welcome' });
  return (
    <>
      <SetupSteps
        workspaceId={workspaceId}
        onMade={(device) => void navigate({ search: (kept) => ({ ...kept, device }) })}
      />
      <div className={`stack fit gap-16 shrinks ${styles['side']}`}>
        <Idle />
        <DemoOffer />
      </div>
    </>
  );
}

function WithDevice({ deviceId }: { readonly deviceId: string }) {
  const { device, error, retry } = useFirstDevice(deviceId);
  const feed = useSampleFeed(deviceId);
  const { made, payload } = keptSetup(deviceId);
  if (error !== null && device === undefined)
    return <Failure error={error} retry={retry} curl={{ path: `/v3/devices/${deviceId}` }} />;
  if (device === undefined) return <Bone width="24em" />;
  return (
    <>
      <div className="stack fit gap-16 shrinks">
        <SendStep device={device} payload={payload} hasArrived={feed.rows.length > 0} />
      </div>
      <div className={`stack fit gap-16 shrinks ${styles['side']}`}>
        <Listening device={device} payload={payload} feed={feed} />
      </div>
      <MadeList made={made} />
    </>
  );
}

// Made list: the requests that made the first device, as curl.

function MadeList({ made }: { readonly made: readonly Made[] }) {
  const words = useWords(welcomeWords);
  if (made.length === 0) return null;
  const commands = made
    .filter(({ request }) => request !== undefined)
    .map(({ request }) => curlOf(request ?? { path: '' }, location.origin));
  return (
    <details className={styles['made']}>
      <summary>{words.made}</summary>
      <p className="mute">{words.madeNote}</p>
      <ol>
        {made.map(({ what, id, request }) => (
          <li key={id}>
            <b>{words.madeWhat[what]}</b> <span className="mono faint">{id}</span>
            {request === undefined ? (
              <p className="mute">{words.existed}</p>
            ) : (
              <CodeBlock code={curlOf(request, location.origin)} />
            )}
          </li>
        ))}
      </ol>
      <CopyButton content={commands.join('\n')} />
    </details>
  );
}

// Demo offer: a workspace of simulated devices, with its progress until it can be opened (contract 37).

const progressMs = 1_000;
const request = { method: 'POST', path: '/v3/workspaces/demo' } as const;

function DemoOffer() {
  const words = useWords(welcomeWords);
  const { organizationId } = useAccount();
  const client = useQueryClient();
  const load = useAction({
    mutationFn: () => ask(platform.POST('/v3/workspaces/demo', { body: { organizationId } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['workspaces'] }),
  });
  return (
    <section className={styles['demo']} aria-label={words.demo}>
      <div>
        <h2>{words.demo}</h2>
        <p className="mute">{words.demoNote}</p>
      </div>
      {load.data === undefined ? (
        <Button disabled={load.isPending} onClick={() => load.mutate()}>
          <Sprout aria-hidden="true" />
          {words.loadDemo}
        </Button>
      ) : (
        <DemoProgress workspaceId={load.data.id} />
      )}
      {load.isPending && (
        <div className={styles['progress']} role="status">
          <progress aria-label={words.loadingDemo} />
          <p className="mute">{words.loadingDemo}</p>
        </div>
      )}
      {load.error !== null && (
        <Failure error={load.error} retry={() => load.mutate()} curl={request} />
      )}
    </section>
  );
}

function DemoProgress({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(welcomeWords);
  const { short } = useFormats();
  const overview = useQuery({ ...overviewOf(workspaceId), refetchInterval: progressMs });
  const { devices, samples } = overview.data ?? {};
  return (
    <div className={styles['progress']} role="status">
      {devices !== undefined && (
        <p>
          <b className="num">
            {words.demoProgress(devices.total, short(samples ?? 0), samples ?? 0)}
          </b>{' '}
          <span className="mute">{words.demoFilling}</span>
        </p>
      )}
      <ButtonLink to="/w/$workspaceId" params={{ workspaceId }} look="primary">
        {words.openDemo}
      </ButtonLink>
    </div>
  );
}

// Send step: the three answers, and the command that sends the first reading, with real ids.

interface SendStepProps {
  readonly device: FirstDevice;
  readonly payload: object;
  readonly hasArrived: boolean;
}

function SendStep({ device, payload, hasArrived }: SendStepProps) {
  const words = useWords(welcomeWords);
  const { name, connectivity, typeName, isPassThrough, sender } = device;
  const stored = typeName === undefined ? words.asItIs : words.declared;
  const decoder = isPassThrough ? stored : words.decodedBy(typeName ?? '');
  return (
    <>
      <ol className={styles['steps']} aria-label={words.steps}>
        <Step number={1} title={words.nameStep} state="done" answer={name} />
        <Step
          number={2}
          title={words.talkStep}
          state="done"
          answer={words.protocolNames[connectivity]}
        />
        <Step number={3} title={words.sendStep} state="done" answer={decoder} />
        <Step number={4} title={words.sendIt} state="open">
          {sender === undefined ? (
            <p className="mute">{words.noSecret}</p>
          ) : (
            <Commands sender={{ ...sender, payload }} />
          )}
        </Step>
      </ol>
      {hasArrived && (
        <Link className={styles['again']} to="/welcome" search={{}}>
          {words.another}
        </Link>
      )}
    </>
  );
}

function Commands({ sender }: { readonly sender: Sender }) {
  const words = useWords(welcomeWords);
  const about = useAbout();
  const tools = sendTools(sender);
  const [tool, setTool] = useState<SendTool>(tools[0] ?? 'curl');
  const { origin, hostname } = location;
  const { mqtt = null, coap = null } = about?.ports ?? {};
  const code = sendCode(tool, sender, { origin, hostname, mqttPort: mqtt, coapPort: coap });
  const isTerminal = tool !== 'Python' && tool !== 'Arduino';
  return (
    <div className="stack fit gap-10">
      <p className="mute">{isTerminal ? words.sendNote.curl : words.sendNote.device}</p>
      <div>
        <CodeBlock code={code} />
      </div>
      <div className="flow wrap gap-8">
        <Segments
          label={words.tools}
          value={tool}
          choose={setTool}
          options={tools.map((value) => ({ value, label: value }))}
        />
        <CopyButton content={code} />
      </div>
    </div>
  );
}

// Listening: rings until the first sample, which becomes a value, then its chart and what comes next.

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
