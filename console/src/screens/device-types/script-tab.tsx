// Script tab: the code at the left, its trial at the right; for the decoder and for the encoder.
import {
  type Completion,
  type CompletionSource,
  snippetCompletion,
} from '@codemirror/autocomplete';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Play, Trash2 } from 'lucide-react';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { CodeBlock, Failure } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { CodeEditor } from './code-editor.tsx';
import { type DeviceType, eventOfUplink, lastRealEvent } from './device-type-requests.ts';
import { deviceTypeWords } from './device-type-words.ts';
import styles from './device-type.module.css';
import { useEditedType } from './edited-type.tsx';
import {
  cborData,
  type Example,
  examplesIn,
  examplesMax,
  hasFailed,
  isSameEffect,
  problemOf,
  type ScriptRun,
  type Trials,
  useTrials,
  withExample,
  withoutExample,
} from './script-run.ts';
import { diffLines, linesOf } from './json-lines.ts';
import { readPayload, type ReadPayload, type ScriptPart } from './payload.ts';
import { DiffBlock, Results } from './results.tsx';
import { declaredKeys } from './schema-keys.ts';

const decoderRoute = '/signed-in/shell/w/$workspaceId/types/$typeId/decoder';

export function DecoderTab() {
  const { device, uplink, at, line } = useSearch({ from: decoderRoute });
  const failed = useQuery({
    queryKey: ['failed-uplink', device, uplink],
    enabled: device !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await eventOfUplink(device ?? '', uplink ?? '', at ?? '')) ?? null,
  });
  return (
    <ScriptTab
      key="decoder"
      part="uplinkScript"
      {...(uplink !== undefined && { failed: { event: failed.data ?? undefined, line } })}
    />
  );
}

export function EncoderTab() {
  return <ScriptTab key="encoder" part="downlinkScript" />;
}

interface ScriptTabProps {
  readonly part: ScriptPart;
  /** An uplink to try at once, and the line in which the script failed with it. */
  readonly failed?: {
    /** Undefined until it is known, and when it is no longer kept. */
    readonly event: object | undefined;
    readonly line: number | undefined;
  };
}

function ScriptTab({ part, failed }: ScriptTabProps) {
  const words = useWords(deviceTypeWords);
  const { type, drafts, save } = useEditedType();
  const draft = drafts[part];
  const [typed, setPayload] = useState<string>();
  const first = useFirstPayload(part);
  const tried = failed?.event && JSON.stringify(failed.event, null, 2);
  const payload = typed ?? tried ?? first;
  const [port, setPort] = useState(1);
  const [timestamp] = useState(() => new Date().toISOString());
  const { encoding } = type.meta;
  const typedPayload = useMemo(
    () => readPayload(payload, { part, port, timestamp, encoding }),
    [payload, part, port, timestamp, encoding],
  );
  const read = useReadCbor(typedPayload);
  const trials = useTrials(type.sampleData, part);
  // The newest code, also when a key of the editor is faster than the next render.
  const code = useRef(draft.code);
  useEffect(() => {
    code.current = draft.code;
  }, [draft.code]);
  const run = () => trials.start(code.current, 'event' in read ? read.event : undefined);
  const { schemas } = type;
  const completions = useMemo(() => completionsOf(part, declaredKeys(schemas)), [part, schemas]);
  const isTried = useRef(false);
  useEffect(() => {
    if (tried === undefined || payload !== tried || !('event' in read) || isTried.current) return;
    isTried.current = true;
    run();
  });
  const line = failed?.line;
  const problem = useMemo(() => {
    if (trials.run !== undefined) return problemOf(trials.run);
    return line === undefined ? undefined : { line, column: 1, message: words.failedHere };
  }, [trials.run, line, words]);
  const title = part === 'uplinkScript' ? words.decoder : words.encoder;
  return (
    <div className={styles['split']}>
      <Card
        title={title}
        note={part === 'uplinkScript' ? words.decoderNote : words.encoderNote}
        actions={<span className={`faint text-tiny ${styles['hint']}`}>{words.editorHint}</span>}
      >
        <CodeEditor
          key={draft.revision}
          label={title}
          initialCode={draft.code}
          problem={problem}
          completions={completions}
          run={run}
          save={save}
          change={(next) => {
            code.current = next;
            draft.change(next);
          }}
        />
      </Card>
      <TrialCard
        part={part}
        box={{ payload, setPayload, port, setPort, read }}
        trials={trials}
        run={run}
      />
    </div>
  );
}

/** With the data that the platform reads, where the page cannot. */
function useReadCbor(read: ReadPayload): ReadPayload {
  const cborHex = 'event' in read ? read.cborHex : undefined;
  const data = useQuery({
    queryKey: ['cbor', cborHex],
    enabled: cborHex !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: () => cborData(cborHex ?? ''),
  });
  if (!('event' in read) || cborHex === undefined) return read;
  if (data.error !== null) return { problem: data.error.message };
  return { ...read, event: { ...read.event, data: data.data ?? null, encoding: 'CBOR' } };
}

// Completion of scripts: members of the event, emits, Bits and Hex, and the keys that the type declares.

const eventMembers: Readonly<Record<ScriptPart, readonly string[]>> = {
  uplinkScript: [
    'data',
    'data.payloadHex',
    'data.port',
    'data.text',
    'data.value',
    'encoding',
    'device',
    'device.id',
    'device.deviceId',
    'device.name',
    'device.customFields',
    'device.tags',
    'uplinkMetrics',
    'topic',
    'timestamp',
    'state',
  ],
  downlinkScript: [
    'payload',
    'port',
    'confirmed',
    'topic',
    'device',
    'device.id',
    'device.deviceId',
    'device.name',
    'device.customFields',
    'device.tags',
    'state',
  ],
};

const emits: Readonly<Record<ScriptPart, readonly Completion[]>> = {
  uplinkScript: [
    snippet("emit('sample', { data: { #{} }, topic: '#{default}' });", "emit('sample')"),
    snippet("emit('state', { #{} });", "emit('state')"),
    snippet("emit('log', { #{} });", "emit('log')"),
  ],
  downlinkScript: [
    snippet(
      "emit('downlink', { port: #{1}, confirmed: false, payloadHex: #{} });",
      "emit('downlink') LoRaWAN",
    ),
    snippet("emit('downlink', { topic: '#{}', payload: #{} });", "emit('downlink') MQTT"),
    snippet("emit('log', { #{} });", "emit('log')"),
  ],
};

const functions: readonly (readonly [label: string, detail: string])[] = [
  ['Bits.hexToBits', '(hex)'],
  ['Bits.bitsToHex', '(bits)'],
  ['Bits.base64ToBits', '(base64)'],
  ['Bits.bitsToBase64', '(bits)'],
  ['Bits.base64ToBytes', '(base64)'],
  ['Bits.bitsToUnsigned', '(bits)'],
  ['Bits.bitsToSigned', '(bits)'],
  ['Hex.hexToBytes', '(hex)'],
  ['Hex.bytesToHex', '(bytes)'],
  ['Hex.hexLittleEndianToBigEndian', '(hex, signed = true)'],
];

function snippet(template: string, label: string): Completion {
  return snippetCompletion(template, { label, type: 'keyword', boost: 2 });
}

/** `keys` are the declared keys of the type. */
function completionsOf(part: ScriptPart, keys: readonly string[]): CompletionSource {
  const options: readonly Completion[] = [
    ...emits[part],
    ...eventMembers[part].map((name) => ({ label: `event.${name}`, type: 'property', boost: 1 })),
    ...functions.map(([label, detail]) => ({ label, detail, type: 'function' })),
    ...keys.map((label) => ({ label, type: 'property' })),
  ];
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
  };
}

// Trial card: the payload box with what it was recognized as, the results, and the examples.

interface PayloadBox {
  readonly payload: string;
  readonly setPayload: (payload: string) => void;
  readonly port: number;
  readonly setPort: (port: number) => void;
  readonly read: ReadPayload;
}

/** What the box holds at first: the first example, else the last real uplink, else one of the type's form. */
function useFirstPayload(part: ScriptPart): string {
  const { type, workspaceId } = useEditedType();
  const [example] = examplesIn(type.sampleData, part);
  const last = useQuery({
    queryKey: ['last-real-event', workspaceId, type.id],
    enabled: example === undefined && part === 'uplinkScript',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await lastRealEvent(workspaceId, type.id)) ?? null,
  });
  // The cache may hold an uplink, which is nothing to encode.
  const uplink = part === 'uplinkScript' ? last.data?.event : undefined;
  const event = example?.event ?? uplink;
  if (event !== undefined) return JSON.stringify(event, null, 2);
  return inventedPayload(type, part);
}

function inventedPayload({ meta }: DeviceType, part: ScriptPart): string {
  if (part === 'downlinkScript') return '{\n  "on": true\n}';
  return meta.encoding === 'HEX' ? '00e6' : '{\n  "temperature": 21.5,\n  "humidity": 48\n}';
}

interface TrialCardProps {
  readonly part: ScriptPart;
  readonly box: PayloadBox;
  readonly trials: Trials;
  readonly run: () => void;
}

function TrialCard({ part, box, trials, run }: TrialCardProps) {
  const words = useWords(deviceTypeWords);
  return (
    <Card
      title={words.tryIt}
      actions={
        <>
          {part === 'uplinkScript' && <LastUplinkButton setPayload={box.setPayload} />}
          <Button onClick={run} disabled={trials.isRunning || !('event' in box.read)}>
            <Play aria-hidden="true" />
            {words.run}
            <kbd aria-hidden="true">Ctrl ↵</kbd>
          </Button>
        </>
      }
    >
      <div className={styles['trial']}>
        <PayloadFields part={part} box={box} />
        {trials.error !== null && <Failure error={trials.error} retry={run} />}
        <Results note={words.runNote[part]} run={trials.run} before={trials.before} />
        <ExampleList part={part} trials={trials} load={box.setPayload} />
      </div>
    </Card>
  );
}

interface PayloadFieldsProps {
  readonly part: ScriptPart;
  readonly box: PayloadBox;
}

function PayloadFields({
  part,
  box: { payload, setPayload, port, setPort, read },
}: PayloadFieldsProps) {
  const words = useWords(deviceTypeWords);
  const isRead = 'event' in read;
  const hasPort = part === 'downlinkScript' || (isRead && read.bytes !== undefined);
  return (
    <div className={`stack gap-10 ${styles['payload']}`}>
      <TextArea
        label={part === 'uplinkScript' ? words.payload : words.payloadDown}
        value={payload}
        rows={6}
        spellCheck={false}
        // An uplink that is found later does not replace what somebody is about to edit.
        onFocus={() => setPayload(payload)}
        onChange={({ target }) => setPayload(target.value)}
        hint={isRead ? words.forms[read.form](read.bytes ?? 0) : undefined}
        error={isRead ? undefined : words.notRead(read.problem)}
      />
      {isRead && part === 'uplinkScript' && (
        <details>
          <summary className="mute">{words.scriptGets}</summary>
          <CodeBlock code={JSON.stringify(read.event['data'], null, 2)} />
        </details>
      )}
      {hasPort && (
        <TextField
          label={words.port}
          type="number"
          min={part === 'uplinkScript' ? 0 : 1}
          max={255}
          value={port}
          onChange={({ target }) => setPort(Number(target.value))}
        />
      )}
    </div>
  );
}

function LastUplinkButton({ setPayload }: Pick<PayloadBox, 'setPayload'>) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const { type, workspaceId } = useEditedType();
  const last = useAction({
    mutationFn: () => lastRealEvent(workspaceId, type.id),
    onSuccess(found) {
      if (found === undefined) return toast(words.noUplink);
      setPayload(JSON.stringify(found.event, null, 2));
      toast(words.lastUplinkOf(found.device.name, formats.instant(found.uplink.timestamp)));
    },
    onError: toastFailure,
  });
  return (
    <Button look="ghost" disabled={last.isPending} onClick={() => last.mutate()}>
      {words.lastUplink}
    </Button>
  );
}

// Examples of a type: each a test of the script, green or red, kept with the type.

interface ExampleListProps {
  readonly part: ScriptPart;
  readonly trials: Trials;
  /** Puts the input of an example into the payload box. */
  readonly load: (payload: string) => void;
}

function ExampleList({ part, trials: { run, tested }, load }: ExampleListProps) {
  const words = useWords(deviceTypeWords);
  const { type } = useEditedType();
  const examples = examplesIn(type.sampleData, part);
  const keep = useKeep();
  return (
    <section className={`stack fit gap-12 ${styles['examples']}`} aria-label={words.examples}>
      <h3>
        {words.examples} <span className="mute">{words.examplesNote}</span>
      </h3>
      {examples.length === 0 && <p className="faint">{words.noExample}</p>}
      <ul>
        {examples.map((example) => (
          <ExampleRow
            key={example.name}
            example={example}
            run={tested.get(example.name)}
            load={load}
            keep={keep}
          />
        ))}
      </ul>
      {run !== undefined && !hasFailed(run) && (
        <NewExample
          isFull={examples.length >= examplesMax}
          save={(name) => keep.save({ name, part, event: run.event, emits: run.emits })}
        />
      )}
    </section>
  );
}

interface Keep {
  readonly save: (example: Example) => void;
  readonly remove: (example: Example) => void;
}

function useKeep(): Keep {
  const words = useWords(deviceTypeWords);
  const { type, update } = useEditedType();
  const store = async (sampleData: unknown[], said: string) => {
    try {
      await update({ sampleData, version: type.version });
      toast(said);
    } catch (error) {
      toastFailure(error as Error);
    }
  };
  const save = (example: Example) =>
    void store(withExample(type.sampleData, example), words.exampleSaved(example.name));
  const remove = (example: Example) =>
    void store(withoutExample(type.sampleData, example), words.exampleRemoved(example.name));
  return { save, remove };
}

interface ExampleRowProps {
  readonly example: Example;
  readonly run: ScriptRun | undefined;
  readonly load: (payload: string) => void;
  readonly keep: Keep;
}

function ExampleRow({ example, run, load, keep }: ExampleRowProps) {
  const words = useWords(deviceTypeWords);
  const isPassing = run !== undefined && isSameEffect(run.emits, example.emits);
  const verdict = isPassing ? words.passes : words.fails;
  const tone = isPassing ? 'ok' : 'bad';
  return (
    <li>
      <div className={styles['example']}>
        <Dot tone={run === undefined ? 'off' : tone} />
        <button
          type="button"
          title={words.load}
          onClick={() => load(JSON.stringify(example.event, null, 2))}
        >
          {example.name}
        </button>
        <span className="mute">{run === undefined ? words.notRun : verdict}</span>
        <span className="grow" />
        <Button
          needs="deviceType: update"
          look="ghost"
          isIcon
          aria-label={`${words.remove}: ${example.name}`}
          onClick={() => keep.remove(example)}
        >
          <Trash2 aria-hidden="true" />
        </Button>
      </div>
      {run !== undefined && !isPassing && (
        <div className={`stack fit gap-12 ${styles['failed']}`}>
          <DiffBlock lines={diffLines(linesOf(example.emits), linesOf(run.emits))} />
          <Button
            needs="deviceType: update"
            onClick={() => keep.save({ ...example, emits: run.emits })}
          >
            {words.accept}
          </Button>
        </div>
      )}
    </li>
  );
}

interface NewExampleProps {
  readonly isFull: boolean;
  readonly save: (name: string) => void;
}

function NewExample({ isFull, save }: NewExampleProps) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(name.trim());
    setName('');
  };
  if (isFull) return <p className="faint">{words.exampleLimit(formats.count(examplesMax))}</p>;
  return (
    <form className={`flow align-end gap-8 ${styles['newExample']}`} onSubmit={submit}>
      <TextField
        label={words.exampleName}
        value={name}
        required
        maxLength={100}
        onChange={({ target }) => setName(target.value)}
      />
      <Button needs="deviceType: update" type="submit">
        {words.saveExample}
      </Button>
    </form>
  );
}
