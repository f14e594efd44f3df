// Commands of a device: one is sent, and those that were sent with their states.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type FormEvent, useMemo, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { curlOf } from '../../api/curl.ts';
import { ask, platform } from '../../api/platform.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Sheet } from '../../ui/card.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import type { Device } from './data/device-queries.ts';
import { OlderButton, olderRows, RowBones, useOlder } from './older-rows.tsx';
import { useDeviceFrame } from './device-frame.ts';
import { commandsWords, deviceWords } from './device-words.ts';
import styles from './commands.module.css';
import { examplesIn } from '../device-types/script-run.ts';

type Downlink = components['schemas']['Downlink'];

/** A state changes within a second or two of sending. */
const refreshMs = 2_000;

export function Commands() {
  const words = useWords(commandsWords);
  const { device } = useDeviceFrame();
  const { connectivity } = device;
  const takesCommands = connectivity === 'MQTT' || connectivity === 'LORA';
  if (!takesCommands)
    return (
      <Sheet>
        <Empty title={words.notSupported(connectivity)} note={words.notSupportedNote} />
      </Sheet>
    );
  return (
    <div className={`columns align-start gap-16 ${styles['columns']}`}>
      <CommandForm device={device} connectivity={connectivity} />
      <SentCommands deviceId={device.id} />
    </div>
  );
}

function SentCommands({ deviceId }: { readonly deviceId: string }) {
  const words = useWords(commandsWords);
  const downlinks = useOlder(
    ['downlinks', deviceId],
    (page, signal) =>
      ask(
        platform.GET('/v3/devices/{id}/downlinks', {
          signal,
          params: { path: { id: deviceId }, query: { size: olderRows, page } },
        }),
      ),
    refreshMs,
  );
  const curl = { path: `/v3/devices/${deviceId}/downlinks` };
  return (
    <Card title={words.list}>
      <Answered answer={downlinks.answer} curl={curl} skeleton={<RowBones />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.empty} note={words.emptyNote} />
          ) : (
            <ul className="divided" aria-label={words.list}>
              {rows.map((downlink) => (
                <Sent key={downlink.id} downlink={downlink} />
              ))}
            </ul>
          )
        }
      </Answered>
      <OlderButton {...downlinks} />
    </Card>
  );
}

const steps = ['QUEUED', 'SENT', 'ACKNOWLEDGED'] as const;
const endTones: Readonly<Record<'FAILED' | 'EXPIRED', Tone>> = { FAILED: 'bad', EXPIRED: 'warn' };

function Sent({ downlink }: { readonly downlink: Downlink }) {
  const words = useWords(commandsWords);
  const formats = useFormats();
  const { zone } = useDeviceFrame();
  const { created, state, port, topic, payloadHex, payload, error } = downlink;
  const reached = steps.findIndex((step) => step === state);
  return (
    <li className={styles['sent']}>
      <div className="row wrap justify-between gap-8">
        <time className="faint num" dateTime={created}>
          {formats.instant(created, zone)}
        </time>
        {state === 'FAILED' || state === 'EXPIRED' ? (
          <Chip tone={endTones[state]}>{words.states[state]}</Chip>
        ) : (
          <ol className={styles['steps']}>
            {steps.map((step, at) => (
              <li
                key={step}
                data-reached={at <= reached}
                {...(at === reached ? { 'aria-current': 'step' as const } : {})}
              >
                {words.states[step]}
              </li>
            ))}
          </ol>
        )}
      </div>
      <code className="breaks text-code">
        {[topic ?? '', port === null ? '' : `${words.port} ${port}`].filter(Boolean).join(' ')}{' '}
        {payloadHex ?? JSON.stringify(payload)}
      </code>
      {error !== null && <span className="mute">{error}</span>}
    </li>
  );
}

// Command form: content as JSON or hexadecimal, and where on the device it goes.

interface CommandFormProps {
  readonly device: Device;
  readonly connectivity: 'MQTT' | 'LORA';
}

function CommandForm({ device, connectivity }: CommandFormProps) {
  const words = useWords(commandsWords);
  const { copyCurl } = useWords(deviceWords);
  const type = useDeviceType(device);
  const examples = useMemo(() => commandExamples(type.data?.sampleData), [type.data]);
  const [edited, setDraft] = useState<CommandDraft>();
  const draft = edited ?? examples[0]?.draft ?? emptyDraft;
  const [isTried, setTried] = useState(false);
  const sending = useSending(device.id);
  const fault = faultOf(draft);
  const change = (part: Partial<CommandDraft>) => setDraft({ ...draft, ...part });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault === undefined) sending.mutate(downlinkOf(draft, connectivity));
  };
  const path = `/v3/devices/${device.id}/downlink`;
  const shownFault = isTried ? fault : undefined;
  return (
    <Card title={words.send} isPadded>
      <form className={`stack justify-start gap-16 ${styles['form']}`} onSubmit={submit} noValidate>
        {examples.length > 0 && (
          <ExampleChoice examples={examples} draft={draft} choose={setDraft} />
        )}
        <Content
          draft={draft}
          change={change}
          fault={shownFault}
          isLora={connectivity === 'LORA'}
          hasEncoder={hasEncoder(device, type.data)}
        />
        {connectivity === 'MQTT' ? (
          <TextField
            label={words.topic}
            hint={words.topicHint}
            value={draft.topic}
            onChange={({ target }) => change({ topic: target.value })}
          />
        ) : (
          <LoraFields draft={draft} change={change} isPortWrong={shownFault?.field === 'port'} />
        )}
        <ActionFailure error={sending.error} />
        <div className="flow wrap justify-end gap-8">
          {fault === undefined && (
            <CopyButton
              content={curlOf(
                { method: 'POST', path, body: downlinkOf(draft, connectivity) },
                location.origin,
              )}
            >
              {copyCurl}
            </CopyButton>
          )}
          <Button needs="asset: update" look="primary" type="submit" disabled={sending.isPending}>
            <Send aria-hidden="true" />
            {words.sendNow}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function useSending(deviceId: string) {
  const words = useWords(commandsWords);
  const queries = useQueryClient();
  return useAction({
    mutationFn: (body: ReturnType<typeof downlinkOf>) =>
      ask(platform.POST('/v3/devices/{id}/downlink', { params: { path: { id: deviceId } }, body })),
    onSuccess: () => {
      toast(words.queued);
      return queries.invalidateQueries({ queryKey: ['downlinks', deviceId] });
    },
  });
}

interface PartProps {
  readonly draft: CommandDraft;
  readonly change: (part: Partial<CommandDraft>) => void;
}

interface ContentProps extends PartProps {
  readonly fault: ReturnType<typeof faultOf>;
  readonly isLora: boolean;
  readonly hasEncoder: boolean | undefined;
}

function Content({ draft, change, fault, isLora, hasEncoder: encoder }: ContentProps) {
  const words = useWords(commandsWords);
  const jsonHint = encoder === false ? words.asItIs : words.throughEncoder;
  return (
    <>
      <Segments
        label={words.how}
        options={[
          { value: 'json', label: words.json },
          { value: 'hex', label: words.hex },
        ]}
        value={draft.form}
        choose={(form) => change({ form })}
      />
      {draft.form === 'json' ? (
        <TextArea
          label={words.jsonLabel}
          hint={encoder === false && isLora ? words.needsEncoder : jsonHint}
          error={fault?.field === 'json' ? words.badJson(fault.reason) : undefined}
          rows={6}
          spellCheck={false}
          value={draft.json}
          onChange={({ target }) => change({ json: target.value })}
        />
      ) : (
        <TextField
          label={words.hexLabel}
          hint={words.rawHint}
          error={fault?.field === 'hex' ? words.badHex : undefined}
          spellCheck={false}
          autoComplete="off"
          value={draft.hex}
          onChange={({ target }) => change({ hex: target.value })}
        />
      )}
    </>
  );
}

interface ExampleChoiceProps {
  readonly examples: readonly CommandExample[];
  readonly draft: CommandDraft;
  readonly choose: (draft: CommandDraft) => void;
}

/** The examples with which the encoder is tested; none is chosen after an edit. */
function ExampleChoice({ examples, draft, choose }: ExampleChoiceProps) {
  const words = useWords(commandsWords);
  const chosen = examples.find((one) => one.draft.json === draft.json && draft.form === 'json');
  return (
    <SelectField
      label={words.example}
      hint={words.exampleHint}
      value={chosen?.name ?? ''}
      onChange={({ currentTarget: { value } }) => {
        const example = examples.find(({ name }) => name === value);
        if (example !== undefined) choose(example.draft);
      }}
    >
      {chosen === undefined && <option value="">{words.ownContent}</option>}
      {examples.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function useDeviceType({ dataFlow: { deviceType } }: Device) {
  const id = deviceType?.id ?? '';
  return useQuery({
    queryKey: ['device-type', id],
    enabled: id !== '',
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-types/{id}', { signal, params: { path: { id } } })),
  });
}

type DeviceType = NonNullable<ReturnType<typeof useDeviceType>['data']>;

/** Undefined while or when the type cannot be read. */
function hasEncoder(device: Device, type: DeviceType | undefined): boolean | undefined {
  if (device.dataFlow.deviceType === null) return false;
  return type && type.downlinkScript !== null;
}

function LoraFields({ draft, change, isPortWrong }: PartProps & { readonly isPortWrong: boolean }) {
  const words = useWords(commandsWords);
  return (
    <>
      <TextField
        label={words.port}
        hint={words.portHint}
        error={isPortWrong ? words.portHint : undefined}
        inputMode="numeric"
        value={draft.port}
        onChange={({ target }) => change({ port: target.value })}
      />
      <CheckField
        label={words.confirmed}
        isOn={draft.isConfirmed}
        change={(isConfirmed) => change({ isConfirmed })}
      />
      <CheckField
        label={words.clearQueue}
        isOn={draft.isReplacing}
        change={(isReplacing) => change({ isReplacing })}
      />
    </>
  );
}

// Command draft: the fields of the form, what is wrong with them, and the request that they mean.

export interface CommandDraft {
  readonly form: 'json' | 'hex';
  readonly json: string;
  readonly hex: string;
  readonly topic: string;
  readonly port: string;
  readonly isConfirmed: boolean;
  readonly isReplacing: boolean;
}

type DownlinkDraft = components['schemas']['DownlinkDraft'];

export const emptyDraft: CommandDraft = {
  form: 'json',
  json: '{ "led": true }',
  hex: '',
  topic: '',
  port: '',
  isConfirmed: false,
  isReplacing: false,
};

/** A command that the encoder of a device type is tested with. */
export interface CommandExample {
  readonly name: string;
  readonly draft: CommandDraft;
}

/** Its port stays empty: the example has one for the test, and the encoder chooses its own. */
export function commandExamples(sampleData: unknown): readonly CommandExample[] {
  return examplesIn(sampleData, 'downlinkScript').flatMap(({ name, event }) => {
    const { payload, confirmed } = event;
    if (payload === undefined) return [];
    const json = JSON.stringify(payload, null, 2);
    return [{ name, draft: { ...emptyDraft, json, isConfirmed: confirmed === true } }];
  });
}

const portMax = 223;

export type CommandFault =
  | { readonly field: 'json'; readonly reason: string }
  | { readonly field: 'hex' | 'port' };

/** What must change before the draft can be sent. */
export function faultOf({ form, json, hex, port }: CommandDraft): CommandFault | undefined {
  if (form === 'hex' && !/^(?:[0-9a-f]{2})+$/i.test(withoutSpace(hex))) return { field: 'hex' };
  if (form === 'json') {
    try {
      JSON.parse(json);
    } catch (error) {
      return { field: 'json', reason: (error as Error).message };
    }
  }
  if (port.trim() === '') return undefined;
  const isPort = /^\d+$/.test(port.trim()) && Number(port) >= 1 && Number(port) <= portMax;
  return isPort ? undefined : { field: 'port' };
}

/** The body of a downlink (contract 17); the draft has no fault. */
export function downlinkOf(
  { form, json, hex, topic, port, isConfirmed, isReplacing }: CommandDraft,
  connectivity: 'MQTT' | 'LORA',
): DownlinkDraft {
  const isHex = form === 'hex';
  const content = isHex
    ? { payloadHex: withoutSpace(hex).toLowerCase() }
    : { payload: JSON.parse(json) as unknown };
  const raw = isHex ? { raw: true } : {};
  if (connectivity === 'MQTT') {
    const below = topic.trim() === '' ? {} : { topic: topic.trim() };
    return { ...raw, mqttDownlink: { ...below, ...content } };
  }
  const at = port.trim() === '' ? {} : { port: Number(port) };
  return {
    ...raw,
    loraDownlink: {
      ...at,
      ...content,
      ...(isConfirmed ? { confirmed: true } : {}),
      ...(isReplacing ? { clearQueue: true } : {}),
    },
  };
}

function withoutSpace(hex: string): string {
  return hex.replaceAll(/\s/g, '');
}
