// Why: a button that follows an uplink, with one line of dots, the broken step open, and what to do (contract 39.3).
import { useQuery } from '@tanstack/react-query';
import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import type { components, operations } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { type DotTone, Dot } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { useFormats, useLanguage, useWords } from '../../words/language.tsx';
import type { FailedUplink } from '../device-types/type-search.ts';
import { RegisterRefused } from './register-refused.tsx';
import { quotedOf, toldSteps } from './told-steps.ts';
import { whyWords } from './why-words.ts';
import styles from './why.module.css';

type Trace = components['schemas']['DeviceTrace'];
type Step = Trace['steps'][number];
type Link = NonNullable<Step['link']>;
type Question = NonNullable<operations['getDeviceTrace']['parameters']['query']>;

interface WhyProps {
  readonly workspaceId: string;
  readonly deviceId: string;
  /** The last uplink when it names none. */
  readonly question?: Question;
}

export function Why({ workspaceId, deviceId, question = {} }: WhyProps) {
  const words = useWords(whyWords);
  const [shown, setShown] = useState<'trace' | Refused>();
  const close = () => setShown(undefined);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setShown('trace')}>
        <CircleHelp aria-hidden="true" />
        {words.why}
      </Button>
      {shown === 'trace' && (
        <TraceDialog
          workspaceId={workspaceId}
          deviceId={deviceId}
          question={question}
          close={close}
          register={setShown}
        />
      )}
      {typeof shown === 'object' && (
        <RegisterRefused {...shown} workspaceId={workspaceId} close={close} />
      )}
    </>
  );
}

interface Refused {
  readonly refusalId: string;
  readonly deviceId: string;
}

interface TraceDialogProps extends Required<WhyProps> {
  readonly register: (refused: Refused) => void;
  readonly close: () => void;
}

function TraceDialog({ workspaceId, deviceId, question, register, close }: TraceDialogProps) {
  const words = useWords(whyWords);
  const trace = useQuery({
    queryKey: ['trace', deviceId, question],
    // What is broken is often mended in another tab.
    staleTime: 0,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/devices/{id}/trace', {
          signal,
          params: { path: { id: deviceId }, query: question },
        }),
      ),
  });
  const path = `/v3/devices/${deviceId}/trace`;
  const { data } = trace;
  return (
    <Dialog
      isWide
      title={data === undefined ? words.title : words.titleOf(data.device.name)}
      close={close}
      footer={
        <>
          {data !== undefined && <CopyForSupport trace={data} />}
          <span className="grow" />
          <Button onClick={close}>{words.close}</Button>
        </>
      }
    >
      <Answered answer={trace} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => <Told workspaceId={workspaceId} register={register} trace={found} />}
      </Answered>
    </Dialog>
  );
}

interface ToldProps {
  readonly workspaceId: string;
  readonly trace: Trace;
  readonly register: (refused: Refused) => void;
}

function Told({ workspaceId, trace, register }: ToldProps) {
  const words = useWords(whyWords);
  const { verdict, steps, device } = trace;
  const { code, text, fix } = verdict;
  const broken = steps.find((step) => step.text === text && step.code === code);
  return (
    <>
      <p role="status">
        <strong>{words.codes[code]}</strong>
      </p>
      <Steps steps={steps} first={broken ?? steps.at(-1)} />
      {fix !== null && <p>{words.fixes[code]}</p>}
      <div className="row wrap gap-8">
        <Mend
          workspaceId={workspaceId}
          register={register}
          step={broken}
          deviceRecordId={device.id}
        />
        {fix !== null && fix.link !== null && (
          <LinkTo workspaceId={workspaceId} link={fix.link} failed={failedIn(device.id, broken)} />
        )}
      </div>
    </>
  );
}

interface MendProps {
  readonly workspaceId: string;
  readonly step: Step | undefined;
  readonly deviceRecordId: string;
  readonly register: (refused: Refused) => void;
}

/** Of a sender with an unknown ID: it is another device, or this one under another name. */
function Mend({ workspaceId, step, deviceRecordId, register }: MendProps) {
  const words = useWords(whyWords);
  const { refusalId, deviceId, reason } = step?.details ?? {};
  if (typeof refusalId !== 'string' || typeof deviceId !== 'string') return null;
  if (reason !== 'UNKNOWN_DEVICE') return null;
  return (
    <>
      <Button
        needs="asset: create"
        look="primary"
        onClick={() => register({ refusalId, deviceId })}
      >
        {words.register}
      </Button>
      <ButtonLink
        to="/w/$workspaceId/devices/$deviceId/settings"
        params={{ workspaceId, deviceId: deviceRecordId }}
      >
        {words.rename}
      </ButtonLink>
    </>
  );
}

const tones: Readonly<Record<Step['state'], DotTone>> = {
  OK: 'ok',
  BROKEN: 'bad',
  WAITING: 'warn',
  SKIPPED: 'off',
  UNKNOWN: 'off',
};

function Steps({
  steps,
  first,
}: {
  readonly steps: readonly Step[];
  readonly first: Step | undefined;
}) {
  const words = useWords(whyWords);
  const { instant } = useFormats();
  const [chosen, choose] = useState<number>();
  const open = chosen === undefined ? first : steps[chosen];
  return (
    <>
      <ol className={styles['steps']} aria-label={words.steps}>
        {steps.map((step, place) => (
          // Steps of one kind have no other name.
          // biome-ignore lint/suspicious/noArrayIndexKey: they never change their order
          <li key={place}>
            <button type="button" aria-pressed={step === open} onClick={() => choose(place)}>
              <Dot tone={tones[step.state]} />
              {words.kinds[step.kind]}
              <span className="sr">{words.states[step.state]}</span>
            </button>
          </li>
        ))}
      </ol>
      {open !== undefined && (
        <p className={styles['text']} aria-live="polite">
          {open.at !== null && <span className="mute num">{instant(open.at)} </span>}
          <StepText step={open} />
        </p>
      )}
    </>
  );
}

/** What happened, in the language of the reader. What a script, a rule or a target says stays as it is. */
function StepText({ step }: { readonly step: Step }) {
  const words = useWords(whyWords);
  const { language, formats } = useLanguage();
  const { code, text, details } = step;
  const tell = toldSteps[language];
  if (tell === undefined) return text;
  const sentence = tell(step, details ?? {}, formats);
  const quoted = sentence === undefined ? text : quotedOf(details ?? {});
  return (
    <>
      {sentence ?? `${words.codes[code]}.`}
      {quoted !== undefined && (
        <>
          <br />
          <small className="mute" lang="en">
            {quoted}
          </small>
        </>
      )}
    </>
  );
}

/** The uplink that a decoder made nothing of, for its page. */
function failedIn(device: string, step: Step | undefined): FailedUplink | undefined {
  const { correlationId, line } = step?.details ?? {};
  if (typeof correlationId !== 'string' || step?.at === null || step === undefined)
    return undefined;
  return {
    device,
    uplink: correlationId,
    at: step.at,
    ...(typeof line === 'number' && { line }),
  };
}

interface LinkToProps {
  readonly workspaceId: string;
  readonly link: Link;
  readonly failed: FailedUplink | undefined;
}

function LinkTo({ workspaceId, link: { kind, id }, failed }: LinkToProps) {
  const { links } = useWords(whyWords);
  switch (kind) {
    case 'DEVICE':
      return (
        <ButtonLink
          to="/w/$workspaceId/devices/$deviceId/settings"
          params={{ workspaceId, deviceId: id }}
        >
          {links.DEVICE}
        </ButtonLink>
      );
    case 'DEVICE_TYPE':
      return (
        <ButtonLink
          to="/w/$workspaceId/types/$typeId/decoder"
          params={{ workspaceId, typeId: id }}
          search={failed ?? {}}
        >
          {links.DEVICE_TYPE}
        </ButtonLink>
      );
    case 'DEVICE_CONNECTOR':
      return (
        <ButtonLink
          to="/w/$workspaceId/flows/connectors/$connectorId"
          params={{ workspaceId, connectorId: id }}
        >
          {links.DEVICE_CONNECTOR}
        </ButtonLink>
      );
    case 'DATA_FLOW':
      return (
        <ButtonLink to="/w/$workspaceId/flows/$flowId" params={{ workspaceId, flowId: id }}>
          {links.DATA_FLOW}
        </ButtonLink>
      );
    case 'RULE':
      return (
        <ButtonLink to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
          {links.RULE}
        </ButtonLink>
      );
    case 'OUTPUT_CONNECTOR':
      return (
        <ButtonLink
          to="/w/$workspaceId/outputs/$outputId/settings"
          params={{ workspaceId, outputId: id }}
        >
          {links.OUTPUT_CONNECTOR}
        </ButtonLink>
      );
    default:
      return null;
  }
}

/** As text in English, for whoever helps; the sentences contain no secret and no payload. */
function CopyForSupport({ trace }: { readonly trace: Trace }) {
  const words = useWords(whyWords);
  const { device, at, verdict, steps } = trace;
  const lines = [
    `Device ${device.name} (${device.deviceId}, ${device.id})`,
    `Uplink ${at ?? 'none'}`,
    `Verdict ${verdict.code}: ${verdict.text}`,
    ...steps.map(
      (step) => `${step.kind} ${step.state} ${step.code} ${step.at ?? '-'} ${step.text}`,
    ),
  ];
  return <CopyButton content={lines.join('\n')}>{words.copy}</CopyButton>;
}
