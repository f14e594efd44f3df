// Welcome: from nothing to the first reading of a device in four steps, or to a workspace of the demo.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Sprout } from 'lucide-react';
import { useState } from 'react';
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
import { useSampleFeed } from '../device/data/sample-feed.ts';
import { type FirstDevice, Idle, Listening, useFirstDevice } from './listening.tsx';
import { sendCode, type Sender, type SendTool, sendTools } from './send-code.ts';
import { keptSetup, type Made } from './setup-requests.ts';
import { SetupSteps, Step, useAbout } from './setup-steps.tsx';
import { welcomeWords } from './welcome-words.ts';
import styles from './welcome.module.css';

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
