// Setup steps: name, protocol and payload, each with an answer filled in; the last makes the device. And what every step looks like.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Check } from 'lucide-react';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { rememberFirstDevice } from '../../session/first-run.ts';
import { useAccount } from '../../session/session.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { useWords } from '../../words/language.tsx';
import { firstCode } from '../device-types/device-type-requests.ts';
import { runScript } from '../device-types/script-run.ts';
import { connectivities, type Connectivity } from '../devices/register-requests.ts';
import {
  type Decoding,
  firstPayload,
  keepSetup,
  type Made,
  makeFirst,
  type Proposal,
  proposalOf,
} from './setup-requests.ts';
import { welcomeWords } from './welcome-words.ts';
import styles from './welcome.module.css';

interface SetupStepsProps {
  readonly workspaceId: string;
  readonly onMade: (deviceId: string) => void;
}

interface Answers {
  readonly name: string;
  readonly connectivity: Connectivity;
}

export function SetupSteps({ workspaceId, onMade }: SetupStepsProps) {
  const words = useWords(welcomeWords);
  const [open, setOpen] = useState(1);
  const [answered, setAnswered] = useState<Answers>({
    name: words.firstName,
    connectivity: 'HTTP',
  });
  const making = useMaking(workspaceId, answered, onMade);
  const stateOf = (number: number) => {
    if (number === open) return 'open';
    return number < open ? 'done' : 'later';
  };
  // After the first record exists, another answer would not be that of the record.
  const change = (number: number) => (making.hasBegun ? {} : { change: () => setOpen(number) });
  return (
    <ol className={styles['steps']} aria-label={words.steps}>
      <Step
        number={1}
        title={words.nameStep}
        state={stateOf(1)}
        answer={answered.name}
        {...change(1)}
      >
        <NameForm
          name={answered.name}
          next={(name) => {
            setAnswered({ ...answered, name });
            setOpen(2);
          }}
        />
      </Step>
      <Step
        number={2}
        title={words.talkStep}
        state={stateOf(2)}
        answer={words.protocolNames[answered.connectivity]}
        {...change(2)}
      >
        <ProtocolForm
          chosen={answered.connectivity}
          next={(connectivity) => {
            setAnswered({ ...answered, connectivity });
            setOpen(3);
          }}
        />
      </Step>
      <Step number={3} title={words.sendStep} state={stateOf(3)}>
        <PayloadForm isBusy={making.isPending} make={making.mutate} />
        <ActionFailure error={making.error} />
      </Step>
      <Step number={4} title={words.sendIt} state="later" />
    </ol>
  );
}

interface NameFormProps {
  readonly name: string;
  readonly next: (name: string) => void;
}

function NameForm({ name, next }: NameFormProps) {
  const words = useWords(welcomeWords);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    next(String(new FormData(event.currentTarget).get('name')).trim());
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <TextField
        label={words.name}
        name="name"
        defaultValue={name}
        required
        pattern=".*\S.*"
        maxLength={200}
        autoComplete="off"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- Enter is the answer to each step
        autoFocus
        onFocus={({ target }) => target.select()}
      />
      <div>
        <Button type="submit" look="primary">
          {words.next}
        </Button>
      </div>
    </form>
  );
}

/** A second try after a refusal continues behind what exists. */
function useMaking(
  workspaceId: string,
  { name, connectivity }: Answers,
  onMade: (id: string) => void,
) {
  const { organizationId } = useAccount();
  const client = useQueryClient();
  const [made, setMade] = useState<readonly Made[]>([]);
  const mutation = useAction({
    mutationFn: async ({ decoding, payload }: Sending) => {
      const setup = { workspaceId, organizationId, name, connectivity, decoding };
      return { all: await makeFirst(setup, made, setMade), payload };
    },
    onSuccess({ all, payload }) {
      const device = all.find(({ what }) => what === 'device');
      if (device === undefined) return;
      rememberFirstDevice(workspaceId, device.id);
      keepSetup(device.id, { made: all, payload });
      for (const key of ['devices', 'flows', 'device-types', 'overview'])
        void client.invalidateQueries({ queryKey: [key] });
      onMade(device.id);
    },
  });
  return { ...mutation, hasBegun: made.length > 0 };
}

// Payload form: JSON as it is, or a pasted payload that proposes its decoder.

/** What the device sends, and how it is decoded. */
interface Sending {
  readonly payload: object;
  readonly decoding: Decoding;
}

interface PayloadFormProps {
  readonly isBusy: boolean;
  readonly make: (sending: Sending) => void;
}

function PayloadForm({ isBusy, make }: PayloadFormProps) {
  const words = useWords(welcomeWords);
  const [kind, setKind] = useState<'json' | 'pasted'>('json');
  const [text, setText] = useState('');
  const [port, setPort] = useState(1);
  const [typeId, setTypeId] = useState<string>(ownCode);
  const proposal = proposalOf(useSettledValue(text));
  const sending =
    kind === 'json'
      ? ({ payload: firstPayload, decoding: { kind: 'asItIs' } } as const)
      : sendingOf(proposal, port, typeId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sending !== undefined) make(sending);
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <OptionList
        label={words.sendStep}
        name="sends"
        value={kind}
        choose={setKind}
        options={[
          {
            value: 'json',
            title: words.sends.json,
            note: (
              <>
                {words.jsonNote} <code className="mono">{JSON.stringify(firstPayload)}</code>
              </>
            ),
          },
          { value: 'pasted', title: words.sends.pasted, note: words.pastedNote },
        ]}
      />
      {kind === 'pasted' && (
        <>
          <TextArea
            label={words.payload}
            hint={words.payloadHint}
            error={proposal.form === 'unreadable' ? words.unreadable : undefined}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          {proposal.form === 'json' && <KeyList proposal={proposal} />}
          {proposal.form === 'bytes' && (
            <DecoderSearch
              payloadHex={proposal.payloadHex}
              port={port}
              setPort={setPort}
              chosen={typeId}
              choose={setTypeId}
            />
          )}
        </>
      )}
      <div>
        <Button type="submit" look="primary" disabled={isBusy || sending === undefined}>
          {isBusy ? words.making : words.make}
        </Button>
      </div>
    </form>
  );
}

/** Undefined while nothing readable is pasted. */
function sendingOf(proposal: Proposal, port: number, typeId: string): Sending | undefined {
  if (proposal.form === 'json')
    return { payload: proposal.data, decoding: { kind: 'declared', schema: proposal.schema } };
  if (proposal.form !== 'bytes') return undefined;
  const payload = { port, payloadHex: proposal.payloadHex };
  if (typeId !== ownCode) return { payload, decoding: { kind: 'type', typeId } };
  return { payload, decoding: { kind: 'ownCode', code: firstCode.bytes ?? '' } };
}

function KeyList({ proposal }: { readonly proposal: Extract<Proposal, { form: 'json' }> }) {
  const words = useWords(welcomeWords);
  const { keys } = proposal;
  return (
    <div className={styles['proposal']} role="status">
      <b>{words.keys(keys.length)}</b>
      <dl className={styles['keys']}>
        {keys.map(({ key, type, shown }) => (
          <div key={key}>
            <dt className="mono">{key}</dt>
            <dd>
              <span className="mute">{words.keyKinds[type]}</span>{' '}
              <code className="mono">{shown}</code>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

// Decoder search: device types whose decoder reads the pasted bytes, each tried on the platform.

type DeviceType = components['schemas']['DeviceType'];

/** In place of the id of a type: code that begins with two bytes. */
const ownCode = '';

const triedMax = 8;
const valuesMax = 4;

interface DecoderSearchProps {
  readonly payloadHex: string;
  readonly port: number;
  readonly setPort: (port: number) => void;
  readonly chosen: string;
  readonly choose: (typeId: string) => void;
}

function DecoderSearch(props: DecoderSearchProps) {
  const { payloadHex, port, setPort, chosen, choose } = props;
  const words = useWords(welcomeWords);
  const [search, setSearch] = useState('');
  const tried = useTriedTypes(useSettledValue(search.trim()), payloadHex, port);
  const read = tried.data?.find(({ result }) => typeof result !== 'string');
  // Without a word to search for, a decoder that reads the bytes is a coincidence.
  const proposed = search.trim() === '' ? undefined : read?.id;
  useEffect(() => {
    if (proposed !== undefined) choose(proposed);
  }, [proposed, choose]);
  const own = { value: ownCode, title: words.ownCode, note: words.ownCodeNote };
  const notes = { failed: words.noDecode, empty: words.noSample };
  const found = (tried.data ?? []).map(({ id, name, result }) => ({
    value: id,
    title: name,
    note: typeof result === 'string' ? notes[result] : result.join(' · '),
    isDisabled: result === 'failed',
  }));
  return (
    <div className={styles['proposal']}>
      <b>{words.bytes(payloadHex.length / 2)}</b>
      <div className={`columns gap-12 ${styles['pair']}`}>
        <TextField
          label={words.findType}
          hint={words.findTypeHint}
          autoComplete="off"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        <TextField
          label={words.port}
          hint={words.portHint}
          type="number"
          min={1}
          max={255}
          value={port}
          onChange={({ target }) => setPort(Number(target.value))}
        />
      </div>
      <div aria-busy={tried.isFetching} data-stale={tried.isPlaceholderData}>
        {tried.isPending && <Bone width="16em" />}
        {tried.error !== null && <Failure error={tried.error} retry={() => void tried.refetch()} />}
        {tried.data?.length === 0 && <p className="mute">{words.noTypes}</p>}
      </div>
      <OptionList
        label={words.decoders}
        name="decoder"
        isFirst={false}
        value={[own, ...found].some(({ value }) => value === chosen) ? chosen : ownCode}
        choose={choose}
        options={[...found, own]}
      />
    </div>
  );
}

interface TriedType {
  readonly id: string;
  readonly name: string;
  /** The decoded values as words. */
  readonly result: 'failed' | 'empty' | readonly string[];
}

/** The first types of the search that have a decoder of bytes; those that read the payload first. */
function useTriedTypes(search: string, payloadHex: string, port: number) {
  const { organizationId } = useAccount();
  return useQuery({
    queryKey: ['tried types', organizationId, search, payloadHex, port],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly TriedType[]> => {
      const named = search === '' ? {} : { search };
      const query = { organizationId, ...named, details: true, size: 50, sort: 'name,asc' };
      const { content } = await ask(
        platform.GET('/v3/device-types', { signal, params: { query } }),
      );
      const types = content
        .filter((type): type is DeviceType => 'uplinkScript' in type)
        .filter(({ uplinkScript, meta }) => uplinkScript !== null && meta.encoding !== 'JSON');
      const tried = await Promise.all(
        types.slice(0, triedMax).map((type) => tryType(type, payloadHex, port)),
      );
      const isRead = ({ result }: TriedType) => typeof result !== 'string';
      return [...tried.filter(isRead), ...tried.filter((one) => !isRead(one))];
    },
  });
}

async function tryType(type: DeviceType, payloadHex: string, port: number): Promise<TriedType> {
  const { id, name, uplinkScript } = type;
  const event = { data: { port, payloadHex }, timestamp: new Date().toISOString(), state: {} };
  const { emits } = await runScript(uplinkScript?.code ?? '', event);
  if (emits.some((emit) => emit.type === 'ERROR')) return { id, name, result: 'failed' };
  const values = emits
    .filter((emit) => emit.type === 'SAMPLE')
    .flatMap((emit) => Object.entries((emit.event as { readonly data: object }).data))
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([key, value]) => `${key} ${String(value)}`);
  return { id, name, result: values.length === 0 ? 'empty' : values.slice(0, valuesMax) };
}

// Protocol form: HTTP, MQTT or CoAP, as far as they are on in this installation.

interface ProtocolFormProps {
  readonly chosen: Connectivity;
  readonly next: (chosen: Connectivity) => void;
}

function ProtocolForm({ chosen, next }: ProtocolFormProps) {
  const words = useWords(welcomeWords);
  const [connectivity, setConnectivity] = useState(chosen);
  const about = useAbout();
  const isOn = { HTTP: true, MQTT: about?.features.mqtt, COAP: about?.features.coap };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    next(connectivity);
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <OptionList
        label={words.talkStep}
        name="protocol"
        value={connectivity}
        choose={setConnectivity}
        options={connectivities.map((one) => ({
          value: one,
          title: words.protocolNames[one],
          note: isOn[one] === false ? words.isOff : words.protocols[one],
          isDisabled: isOn[one] !== true,
        }))}
      />
      <div>
        <Button type="submit" look="primary">
          {words.next}
        </Button>
      </div>
    </form>
  );
}

/** What the installation has; undefined until it answered. */
export function useAbout() {
  return useQuery(aboutQuery).data;
}

// Step: its title with a number or a tick, its form while open, its answer once done.

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly state: 'done' | 'open' | 'later';
  /** Shown once the step is done. */
  readonly answer?: ReactNode;
  /** Opens the step again. */
  readonly change?: () => void;
  readonly children?: ReactNode;
}

export function Step({ number, title, state, answer, change, children }: StepProps) {
  const words = useWords(welcomeWords);
  return (
    <li className={styles[state]} aria-current={state === 'open' ? 'step' : undefined}>
      <span className={styles['bead']} aria-hidden="true">
        {state === 'done' ? <Check /> : number}
      </span>
      <div>
        <h2 className={styles['stepTitle']}>
          {state === 'done' && change !== undefined ? (
            <button type="button" onClick={change} aria-label={words.change(title)}>
              {title}
            </button>
          ) : (
            title
          )}
          {state === 'done' && <span className="sr">, {words.done}</span>}
        </h2>
        {state === 'done' && <p className="mute">{answer}</p>}
        {state === 'open' && children}
      </div>
    </li>
  );
}

// Option list: radio buttons with a title and a note each; the chosen one has the focus first.

interface Option<T extends string> {
  readonly value: T;
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly isDisabled?: boolean;
}

interface OptionListProps<T extends string> {
  readonly label: string;
  readonly name: string;
  readonly options: readonly Option<T>[];
  readonly value: T;
  readonly choose: (value: T) => void;
  readonly isFirst?: boolean;
}

function OptionList<T extends string>(props: OptionListProps<T>) {
  const { label, name, options, value, choose, isFirst = true } = props;
  const box = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (isFirst) box.current?.querySelector<HTMLInputElement>('input:checked')?.focus();
  }, [isFirst]);
  return (
    <fieldset ref={box} className="stack gap-6">
      <legend className="sr">{label}</legend>
      {options.map(({ value: one, title, note, isDisabled = false }) => (
        <label key={one} className={styles['option']} data-disabled={isDisabled}>
          <input
            type="radio"
            name={name}
            value={one}
            checked={one === value}
            disabled={isDisabled}
            onChange={() => choose(one)}
          />
          <span>
            <b>{title}</b>
            {note !== undefined && <span className="mute">{note}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
