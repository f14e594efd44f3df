// Send dialog: a payload is handled like a real one, and the dialog shows its effects.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextArea } from '../../ui/field.tsx';
import { CodeBlock, Empty } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { outputTones } from '../outputs/delivery-state.tsx';
import { deliveriesOf } from '../outputs/output-requests.ts';
import { commandFor, type ServerKind, serverMessage } from './connector-kinds.ts';
import { type Connector, devicesOf, flowOf, integrationOf } from './flow-requests.ts';
import { flowWords } from './flows-words.ts';
import styles from './flows.module.css';
import { SampleValues } from './flow-parts.tsx';

const devicesMax = 100;

interface SendDialogProps {
  readonly workspaceId: string;
  readonly connector: Connector;
  /** Data flows whose devices may send. */
  readonly flowIds: readonly string[];
  readonly close: () => void;
}

export function SendDialog({ workspaceId, connector, flowIds, close }: SendDialogProps) {
  const words = useWords(flowWords);
  const form = useId();
  const devices = useQuery(devicesOf(workspaceId, flowIds, devicesMax)).data?.content ?? [];
  const [chosen, setChosen] = useState('');
  const device = devices.find(({ id }) => id === chosen) ?? devices[0];
  const sending = useSending(connector, device);
  const why = unsendable(connector, device, words);
  return (
    <Dialog
      title={words.send}
      close={close}
      isWide
      footer={
        why === undefined && (
          <Button
            type="submit"
            form={form}
            look="primary"
            disabled={sending.isPending || sending.payload === undefined}
          >
            {sending.isPending ? words.sending : words.sendIt}
          </Button>
        )
      }
    >
      <p className="mute">{words.sendNote}</p>
      {why !== undefined && <Empty title={why.title} note={why.note} />}
      {why === undefined && device !== undefined && (
        <form id={form} className="stack gap-16" onSubmit={sending.submit}>
          <SelectField
            label={words.sendAs}
            value={device.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            {devices.map(({ id, name, deviceId }) => (
              <option key={id} value={id}>
                {name} · {deviceId}
              </option>
            ))}
          </SelectField>
          <div className={styles['payload']}>
            <TextArea
              label={words.payload}
              rows={8}
              spellCheck={false}
              value={sending.typed}
              error={sending.payload === undefined ? words.payloadWrong : undefined}
              onChange={(event) => sending.type(event.currentTarget.value)}
            />
          </div>
        </form>
      )}
      <div aria-live="polite" className={`stack gap-12 ${styles['outcome']}`}>
        <ActionFailure error={sending.error} />
        {sending.receipt !== undefined && device !== undefined && (
          <SentEffects
            workspaceId={workspaceId}
            deviceId={device.id}
            flowId={device.dataFlowId}
            correlationId={sending.receipt.id}
            samples={sending.receipt.samples}
          />
        )}
      </div>
      {device !== undefined && <Terminal connector={connector} deviceId={device.deviceId} />}
    </Dialog>
  );
}

interface Sender {
  readonly id: string;
  /** Physical id. */
  readonly deviceId: string;
}

/** Why nothing can be sent; undefined when it can. */
function unsendable(
  { authType, uplinkSecret }: Connector,
  device: Sender | undefined,
  words: (typeof flowWords)['en'],
) {
  if (authType === 'DEVICE_CREDENTIALS') return { title: words.keyOnly, note: '' };
  if (uplinkSecret === null) return { title: words.hiddenSecret, note: '' };
  if (device === undefined) return { title: words.noSender, note: words.noSenderNote };
  return undefined;
}

/** What is typed, else what the device sent last or its network server would send. */
function useSending(connector: Connector, device: Sender | undefined) {
  const known = useQueryClient();
  const server = useServerOf(connector);
  const [nowMs, setNowMs] = useState(() => Date.now());
  const [edited, setEdited] = useState<string>();
  const last = useQuery({
    ...lastPayloadOf(device?.id ?? ''),
    enabled: device !== undefined && server === undefined,
  });
  const proposed =
    server === undefined ? last.data : serverMessage(server, device?.deviceId ?? '', nowMs);
  const typed = edited ?? (proposed === undefined ? '' : JSON.stringify(proposed, null, 2));
  const payload = payloadOf(typed);
  const send = useAction({
    mutationFn: (sent: { readonly body: Payload; readonly device: Sender }) =>
      sendPayload({ ...sent, connector, secret: connector.uplinkSecret ?? '', server }),
    onSuccess: () => {
      // The next proposal has another counter, so that it is not taken for a repetition.
      setNowMs(Date.now());
      return known.invalidateQueries({ queryKey: ['data-flows'] });
    },
  });
  return {
    typed,
    type: setEdited,
    payload,
    receipt: send.data,
    error: send.error,
    isPending: send.isPending,
    submit: (event: FormEvent) => {
      event.preventDefault();
      if (payload !== undefined && device !== undefined) send.mutate({ body: payload, device });
    },
  };
}

function payloadOf(typed: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === 'object' && value !== null ? (value as Payload) : undefined;
  } catch {
    return undefined;
  }
}

function Terminal({ connector, deviceId }: { connector: Connector; deviceId: string }) {
  const words = useWords(flowWords);
  const server = useServerOf(connector);
  const [nowMs] = useState(() => Date.now());
  const command = commandFor({ connector, deviceId, server, secret: undefined, nowMs });
  return (
    <details>
      <summary>{words.commandFor}</summary>
      <CodeBlock code={command} />
    </details>
  );
}

// Sent effects: samples, notes and deliveries of one payload, as they appear.

const deliveryRows = 20;
const deliveryMs = 1_000;

interface SentEffectsProps {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly flowId: string;
  readonly correlationId: string;
  readonly samples: readonly StoredSample[];
}

function SentEffects(props: SentEffectsProps) {
  const { deviceId, flowId, correlationId, samples } = props;
  const words = useWords(flowWords);
  const notes = useQuery(notesOf(deviceId, correlationId)).data ?? [];
  const outputs = useQuery(flowOf(flowId)).data?.outputConnectors ?? [];
  const forwarded = new Map(
    outputs.filter(({ type }) => type !== 'DATABASE').map((output) => [output.id, output.name]),
  );
  return (
    <section aria-label={words.became}>
      <h3>{words.became}</h3>
      <ul>
        {samples.map(({ topic, data }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- samples of one payload have no other identity
          <li key={at}>
            <Dot tone="ok" />
            {words.storedAs(topic)}
            <SampleValues data={data} />
          </li>
        ))}
        {samples.length === 0 && (
          <li>
            <Dot tone="warn" />
            {words.noSample}
          </li>
        )}
        {notes.map(({ id, level, message }) => (
          <li key={id}>
            <Dot tone={level === 'ERROR' ? 'bad' : 'warn'} />
            {words.noted}: {message}
          </li>
        ))}
        {[...forwarded].map(([id, name]) => (
          <Delivered key={id} {...props} outputId={id} name={name} />
        ))}
      </ul>
    </section>
  );
}

interface DeliveredProps extends Omit<SentEffectsProps, 'samples'> {
  readonly outputId: string;
  readonly name: string;
}

function Delivered({ workspaceId, outputId, name, correlationId }: DeliveredProps) {
  const words = useWords(flowWords);
  const deliveries = useQuery({
    ...deliveriesOf(outputId, {}, deliveryRows),
    refetchInterval: deliveryMs,
  });
  const delivery = deliveries.data?.content.find((one) => one.correlationId === correlationId);
  return (
    <li>
      <Dot tone={delivery === undefined ? 'off' : outputTones[delivery.state]} />
      <Link to="/w/$workspaceId/outputs/$outputId/deliveries" params={{ workspaceId, outputId }}>
        {name}
      </Link>
      <span>
        {delivery === undefined ? words.noDelivery : words.states[delivery.state]}
        {delivery?.answer ? ` · ${delivery.answer}` : ''}
      </span>
    </li>
  );
}

// Requests of a payload that the console sends: the payload itself, and its effects.

const exampleBody = { temperature: 21.5 };
const lastRows = 20;
const noteMs = 2_000;

/** JSON that a device may send. */
type Payload = Readonly<Record<string, unknown>> | readonly unknown[];

/** The network server that speaks for the devices of a connector; undefined without one. */
export function useServerOf(connector: Connector): ServerKind | undefined {
  const { integrationId, decodingType } = connector;
  const integration = useQuery({
    ...integrationOf(integrationId ?? ''),
    enabled: integrationId !== null,
  });
  if (integrationId !== null) return integration.data?.type;
  return decodingType === 'NONE' ? undefined : decodingType;
}

/** What the device sent last, or an example where it never sent or it was not kept. */
const lastPayloadOf = (deviceId: string) =>
  queryOptions({
    queryKey: ['last payload', deviceId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: deviceId }, query: { size: 1 } };
      const uplinks = await ask(platform.GET('/v3/devices/{id}/uplinks', { signal, params }));
      return uplinks.content[0]?.payload ?? exampleBody;
    },
  });

interface Sent {
  readonly connector: Connector;
  readonly secret: string;
  readonly device: { readonly id: string; readonly deviceId: string };
  /** Speaks for the device and names it in its message. */
  readonly server: ServerKind | undefined;
  readonly body: Payload;
}

interface StoredSample {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Sends a payload; resolves with its id and the samples that were stored meanwhile. */
async function sendPayload({ device, ...sent }: Sent) {
  const before = new Set((await lastSamplesOf(device.id)).map((one) => JSON.stringify(one)));
  const { id } = await capture({ device, ...sent });
  const after = await lastSamplesOf(device.id);
  return { id, samples: after.filter((one) => !before.has(JSON.stringify(one))) };
}

/** Sends as a device or network server does: the secret is the only credential. */
function capture({ connector: { integrationId }, secret, device, server, body }: Sent) {
  // The document knows that JSON is sent, not which.
  const json = body as never;
  if (integrationId !== null) {
    const params = { path: { integrationId }, query: { secret } };
    return ask(platform.POST('/v3/capture/lora/{integrationId}', { params, body: json }));
  }
  const named = server === undefined ? { deviceId: device.deviceId } : {};
  const params = { query: { secret, ...named } };
  return ask(platform.POST('/v3/capture', { params, body: json }));
}

function lastSamplesOf(deviceId: string): Promise<readonly StoredSample[]> {
  const params = { path: { deviceId }, query: { topic: '*', limit: lastRows } };
  return ask(platform.GET('/v3/devices/{deviceId}/query', { params }));
}

/** Notes of one payload; some are written after it was acknowledged. */
const notesOf = (deviceId: string, correlationId: string) =>
  queryOptions({
    queryKey: ['notes of payload', deviceId, correlationId],
    refetchInterval: noteMs,
    queryFn: async ({ signal }) => {
      const params = { path: { id: deviceId }, query: { size: lastRows } };
      const path = '/v3/devices/{id}/processing-logs';
      const { content } = await ask(platform.GET(path, { signal, params }));
      return content.filter((note) => note.correlationId === correlationId);
    },
  });
