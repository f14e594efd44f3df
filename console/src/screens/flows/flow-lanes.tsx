// Flow lanes: devices, connector, decoder and outputs as cards in the order of a payload's way.
import { useQuery } from '@tanstack/react-query';
import { Cpu, Database, FileCode2, Plug, RadioTower, Send } from 'lucide-react';
import { useState } from 'react';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { useAccount } from '../../session/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { NameFields } from '../../ui/name-fields.tsx';
import { AddForm, Lane, LaneFrame, NodeCard, type OpenCard, type Wire } from '../../ui/lanes.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { encodeFilter } from '../devices/device-list.ts';
import { TestDialog } from '../outputs/output-frame.tsx';
import { OutputPick } from '../outputs/output-pick.tsx';
import { typeNameOf, typeWords } from '../outputs/outputs-words.ts';
import { kindOf, serverNames } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';
import { NewConnector } from './new-connector.tsx';
import {
  type Connector,
  connectorChoice,
  connectorOf,
  devicesOf,
  type Flow,
  inFlows,
  integrationOf,
  outputChoice,
  typeChoice,
} from './flow-requests.ts';
import { flowWords } from './flows-words.ts';
import styles from './flows.module.css';
import { databaseConnectorId } from '../../../../src/model/ids.ts';

interface LaneProps extends OpenCard {
  readonly workspaceId: string;
  readonly draft: FlowDraft;
  readonly change: (draft: FlowDraft) => void;
  /** As it is saved; none while it is not created. */
  readonly flow: Flow | undefined;
  /** The chosen connector, once it is read. */
  readonly connector: Connector | undefined;
}

function FlowLanes(props: Omit<LaneProps, keyof OpenCard | 'connector'>) {
  const words = useWords(flowWords);
  const [open, setOpen] = useState<string>();
  const { connectorId } = props.draft;
  const read = useQuery({ ...connectorOf(connectorId), enabled: connectorId !== '' });
  const connector = connectorId === '' ? undefined : read.data;
  const lane = { ...props, connector, open, setOpen };
  return (
    <LaneFrame label={words.lanes} wires={wiresOf(props.draft)}>
      <SenderLane {...lane} />
      <ConnectorLane {...lane} />
      <DecoderLane {...lane} />
      <OutputLane {...lane} />
    </LaneFrame>
  );
}

// Sender lane: the devices of the flow, and the network server that speaks for them.

function SenderLane(props: LaneProps) {
  const words = useWords(flowWords);
  const integrationId = props.connector?.integrationId ?? null;
  return (
    <Lane title={words.sends}>
      <DevicesCard {...props} />
      {integrationId !== null && <ServerCard {...props} integrationId={integrationId} />}
    </Lane>
  );
}

function DevicesCard({ workspaceId, flow, open, setOpen }: LaneProps) {
  const words = useWords(flowWords);
  const { count } = useFormats();
  const ids = flow === undefined ? [] : [flow.id];
  const total = useQuery(devicesOf(workspaceId, ids, 1)).data?.totalElements ?? 0;
  const filter = encodeFilter(inFlows(ids));
  return (
    <NodeCard
      name="devices"
      open={open}
      setOpen={setOpen}
      icon={<Cpu aria-hidden="true" />}
      title={words.devices}
      note={total === 0 ? words.noDevices : words.deviceCount(count(total), total)}
    >
      <div className="flow wrap gap-8">
        {flow !== undefined && (
          <ButtonLink to="/w/$workspaceId/devices" params={{ workspaceId }} search={{ filter }}>
            {words.showDevices}
          </ButtonLink>
        )}
        <ButtonLink to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
          {words.register}
        </ButtonLink>
      </div>
    </NodeCard>
  );
}

function ServerCard(props: LaneProps & { readonly integrationId: string }) {
  const { workspaceId, integrationId, open, setOpen } = props;
  const words = useWords(flowWords);
  const integration = useQuery(integrationOf(integrationId)).data;
  return (
    <NodeCard
      name="server"
      open={open}
      setOpen={setOpen}
      icon={<RadioTower aria-hidden="true" />}
      title={integration?.name ?? integrationId}
      note={integration === undefined ? words.server : serverNames[integration.type]}
    >
      <div className="flow wrap gap-8">
        <ButtonLink
          to="/w/$workspaceId/flows/integrations/$integrationId"
          params={{ workspaceId, integrationId }}
        >
          {words.openIntegration}
        </ButtonLink>
      </div>
    </NodeCard>
  );
}

// Decoder lane: the device type whose script reads the payloads, or none.

function DecoderLane(props: LaneProps) {
  const { draft, change, open, setOpen } = props;
  const words = useWords(flowWords);
  const { organizationId } = useAccount();
  const types = useQuery(typeChoice(organizationId)).data ?? [];
  const { typeId, isPassThrough } = draft;
  const name = nameOf(props, types);
  return (
    <Lane title={words.decoded}>
      <NodeCard
        name="decoder"
        open={open}
        setOpen={setOpen}
        icon={<FileCode2 aria-hidden="true" />}
        title={name ?? words.noDecoder}
        note={name === undefined || isPassThrough ? words.asSent : words.decoder}
      >
        <SelectField
          label={words.decoder}
          value={typeId}
          onChange={(event) => change({ ...draft, typeId: event.currentTarget.value })}
        >
          <option value="">{`${words.noDecoder}: ${words.asSent}`}</option>
          {types.map((type) => (
            <option key={type.id} value={type.id}>
              {type.name}
            </option>
          ))}
        </SelectField>
        {typeId !== '' && (
          <CheckField
            label={words.passThrough}
            isOn={isPassThrough}
            change={(isOn) => change({ ...draft, isPassThrough: isOn })}
          />
        )}
        <TypeLink {...props} />
      </NodeCard>
    </Lane>
  );
}

function TypeLink({ workspaceId, draft: { typeId } }: LaneProps) {
  const words = useWords(flowWords);
  return (
    <div className="flow wrap gap-8">
      {typeId === '' ? (
        <ButtonLink to="/w/$workspaceId/types" params={{ workspaceId }}>
          {words.newType}
        </ButtonLink>
      ) : (
        <ButtonLink to="/w/$workspaceId/types/$typeId/decoder" params={{ workspaceId, typeId }}>
          {words.openDecoder}
        </ButtonLink>
      )}
    </div>
  );
}

type Named = { readonly id: string; readonly name: string };

/** The name of the chosen type; undefined without one. */
function nameOf({ draft, flow }: LaneProps, types: readonly Named[]): string | undefined {
  if (draft.typeId === '') return undefined;
  const saved = flow?.deviceType;
  if (saved?.id === draft.typeId) return saved.name;
  return types.find(({ id }) => id === draft.typeId)?.name ?? draft.typeId;
}

// Connector lane: where payloads arrive; chosen while the flow is created, fixed afterwards.

function ConnectorLane(props: LaneProps) {
  const { workspaceId, draft, connector, flow, open, setOpen } = props;
  const words = useWords(flowWords);
  const kinds = useWords(connectorWords);
  const { connectorId } = draft;
  return (
    <Lane title={words.arrives}>
      <NodeCard
        name="connector"
        open={open}
        setOpen={setOpen}
        icon={<Plug aria-hidden="true" />}
        title={connector?.name ?? words.connector}
        note={connector === undefined ? words.noConnector : kindOf(connector, kinds)}
      >
        {flow === undefined ? (
          <Choice {...props} />
        ) : (
          <p className="mute">{words.connectorFixed}</p>
        )}
        {connectorId !== '' && (
          <div className="flow wrap gap-8">
            <ButtonLink
              to="/w/$workspaceId/flows/connectors/$connectorId"
              params={{ workspaceId, connectorId }}
            >
              {words.openConnector}
            </ButtonLink>
          </div>
        )}
      </NodeCard>
    </Lane>
  );
}

function Choice({ workspaceId, draft, change }: LaneProps) {
  const words = useWords(flowWords);
  const kinds = useWords(connectorWords);
  const [isCreating, setCreating] = useState(false);
  const known = useQuery(connectorChoice(workspaceId)).data ?? [];
  const choose = (connectorId: string) => change({ ...draft, connectorId });
  return (
    <>
      <SelectField
        label={words.connector}
        value={draft.connectorId}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{words.chooseConnector}</option>
        {known.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name} · {kindOf(one, kinds)}
          </option>
        ))}
      </SelectField>
      <span>
        <Button needs="dataFlow: create" onClick={() => setCreating(true)}>
          {words.newConnector}
        </Button>
      </span>
      {isCreating && (
        <NewConnector
          workspaceId={workspaceId}
          close={() => setCreating(false)}
          onCreated={({ id }) => {
            setCreating(false);
            choose(id);
          }}
        />
      )}
    </>
  );
}

// Output lane: where samples go, each output for all topics or for one.

function OutputLane(props: LaneProps) {
  const { workspaceId, draft, change, setOpen } = props;
  const words = useWords(flowWords);
  const { outputs } = draft;
  return (
    <Lane
      title={words.goesOut}
      foot={
        <AddForm label={words.addOutput}>
          {(done) => (
            <AddOutput
              workspaceId={workspaceId}
              add={(id) => {
                change({ ...draft, outputs: [...outputs, { id, topic: '*' }] });
                setOpen(`output ${outputs.length}`);
                done();
              }}
            />
          )}
        </AddForm>
      }
    >
      {outputs.map((output, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- an output may be there for several topics
        <OutputCard key={`${at} ${output.id}`} {...props} output={output} at={at} />
      ))}
    </Lane>
  );
}

interface OutputCardProps extends LaneProps {
  readonly output: FlowOutput;
  readonly at: number;
}

function OutputCard(props: OutputCardProps) {
  const { workspaceId, flow, draft, change, open, setOpen, output, at } = props;
  const words = useWords(flowWords);
  const types = useWords(typeWords);
  const known = useQuery(outputChoice(workspaceId)).data ?? [];
  const row =
    flow?.outputConnectors.find(({ id }) => id === output.id) ??
    known.find(({ id }) => id === output.id);
  const topic = output.topic === '*' ? words.allTopics : words.topicOnly(output.topic);
  return (
    <NodeCard
      name={`output ${at}`}
      open={open}
      setOpen={setOpen}
      icon={
        row?.type === 'DATABASE' ? <Database aria-hidden="true" /> : <Send aria-hidden="true" />
      }
      title={row?.name ?? output.id}
      note={row === undefined ? topic : `${typeNameOf(types, row.type)} · ${topic}`}
      removeLabel={words.takeOut}
      remove={() => change(withoutOutput(draft, at))}
    >
      <TextField
        label={words.topic}
        hint={words.topicHint}
        value={output.topic}
        spellCheck={false}
        onChange={({ currentTarget: { value } }) =>
          change(withOutput(draft, at, { ...output, topic: value }))
        }
      />
      {row?.global === false && <OutputLinks workspaceId={workspaceId} outputId={output.id} />}
    </NodeCard>
  );
}

interface OutputLinksProps {
  readonly workspaceId: string;
  readonly outputId: string;
}

function OutputLinks({ workspaceId, outputId }: OutputLinksProps) {
  const words = useWords(flowWords);
  const [isTesting, setTesting] = useState(false);
  return (
    <div className="flow wrap gap-8">
      <ButtonLink
        to="/w/$workspaceId/outputs/$outputId/deliveries"
        params={{ workspaceId, outputId }}
      >
        {words.openOutput}
      </ButtonLink>
      <Button needs="dataFlow: update" onClick={() => setTesting(true)}>
        {words.testOutput}
      </Button>
      {isTesting && (
        <TestDialog workspaceId={workspaceId} outputId={outputId} close={() => setTesting(false)} />
      )}
    </div>
  );
}

interface AddOutputProps {
  readonly workspaceId: string;
  readonly add: (id: string) => void;
}

function AddOutput({ workspaceId, add }: AddOutputProps) {
  const words = useWords(flowWords);
  const known = useQuery(outputChoice(workspaceId)).data ?? [];
  return (
    <>
      <OutputPick known={known} pick={({ id }) => add(id)} />
      <ButtonLink
        to="/w/$workspaceId/outputs/new"
        params={{ workspaceId }}
        search={{ scope: 'DATA_FLOW' }}
      >
        {words.newOutput}
      </ButtonLink>
    </>
  );
}

// Flow fields: the sentence, name, description and retention, and the lanes, with what the platform said of them.

interface FlowFieldsProps {
  readonly workspaceId: string;
  /** As it is saved; none while it is not created. */
  readonly flow: Flow | undefined;
  readonly draft: FlowDraft;
  readonly change: (draft: FlowDraft) => void;
  readonly error: Error | null;
}

export function FlowFields({ workspaceId, flow, draft, change, error }: FlowFieldsProps) {
  const words = useWords(flowWords);
  const faults = faultsOf(error);
  return (
    <>
      <Sentence workspaceId={workspaceId} flow={flow} draft={draft} />
      <div className={`columns gap-16 align-start ${styles['head']}`}>
        <NameFields draft={draft} change={change} faults={faults} />
        <TextField
          label={words.retention}
          hint={words.retentionHint}
          error={faultAt(faults, 'retentionDays')}
          inputMode="numeric"
          value={draft.retentionDays}
          onChange={(event) => change({ ...draft, retentionDays: event.currentTarget.value })}
        />
      </div>
      <FlowLanes workspaceId={workspaceId} flow={flow} draft={draft} change={change} />
    </>
  );
}

type SentenceProps = Pick<FlowFieldsProps, 'workspaceId' | 'flow' | 'draft'>;

/** The way of a payload as one would say it. */
function Sentence({ workspaceId, flow, draft }: SentenceProps) {
  const words = useWords(flowWords);
  const { organizationId } = useAccount();
  const connectors = useQuery(connectorChoice(workspaceId)).data ?? [];
  const types = useQuery(typeChoice(organizationId)).data ?? [];
  const outputs = useQuery(outputChoice(workspaceId)).data ?? [];
  const { connectorId, typeId, isPassThrough } = draft;
  const connector = nameIn(connectorId, [...connectors, ...namesOf(flow?.deviceConnector)]);
  const type = nameIn(typeId, [...types, ...namesOf(flow?.deviceType ?? undefined)]);
  const known = [...outputs, ...(flow?.outputConnectors ?? [])];
  const sent = draft.outputs.map(({ id, topic }) => {
    const name = nameIn(id, known) ?? id;
    return topic.trim() === '*' ? words.allTo(name) : words.topicTo(topic, name);
  });
  return (
    <p className={styles['sentence']}>
      {words.sentence(
        connector ?? words.someConnector,
        type === undefined || isPassThrough ? words.notDecoded : words.decodedBy(type),
        sent.length === 0 ? words.toNothing : sent.join(', '),
      )}
    </p>
  );
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
}

function namesOf(one: NamedRecord | undefined): readonly NamedRecord[] {
  return one === undefined ? [] : [one];
}

function nameIn(id: string, known: readonly NamedRecord[]): string | undefined {
  return known.find((one) => one.id === id)?.name;
}

// Flow drafts: a data flow as its lanes edit it, and the bodies that save it.

interface FlowOutput {
  readonly id: string;
  /** `*` for all. */
  readonly topic: string;
}

export interface FlowDraft {
  readonly name: string;
  readonly description: string;
  /** Empty until one is chosen; fixed once the flow exists. */
  readonly connectorId: string;
  /** Empty for payloads that are stored as they are. */
  readonly typeId: string;
  /** Stores what arrives although there is a decoder. */
  readonly isPassThrough: boolean;
  readonly outputs: readonly FlowOutput[];
  /** Days as typed; empty for those of the workspace. */
  readonly retentionDays: string;
}

export function newFlow(name: string): FlowDraft {
  return {
    name,
    description: '',
    connectorId: '',
    typeId: '',
    isPassThrough: false,
    outputs: [{ id: databaseConnectorId, topic: '*' }],
    retentionDays: '',
  };
}

export function draftOf(flow: Flow): FlowDraft {
  const { name, description, deviceConnector, deviceType, outputConnectors } = flow;
  return {
    name,
    description: description ?? '',
    connectorId: deviceConnector.id,
    typeId: deviceType?.id ?? '',
    isPassThrough: deviceType !== null && flow.passThrough,
    outputs: outputConnectors.map(({ id, topic }) => ({ id, topic })),
    retentionDays: String(flow.retentionDays ?? ''),
  };
}

/** Members that an update sends; the connector stays as it is. */
export function changeOf(draft: FlowDraft) {
  const { name, description, typeId, isPassThrough, outputs, retentionDays } = draft;
  return {
    name,
    description: description === '' ? null : description,
    deviceType: typeId === '' ? null : { id: typeId },
    passThrough: typeId === '' || isPassThrough,
    outputConnectors: outputs.map(({ id, topic }) => ({ id, topic: topic.trim() || '*' })),
    retentionDays: retentionDays.trim() === '' ? null : Number(retentionDays),
  };
}

export function bodyOf(draft: FlowDraft, workspaceId: string) {
  return { ...changeOf(draft), workspaceId, deviceConnector: { id: draft.connectorId } };
}

function withOutput(draft: FlowDraft, at: number, output: FlowOutput): FlowDraft {
  return { ...draft, outputs: draft.outputs.with(at, output) };
}

function withoutOutput(draft: FlowDraft, at: number): FlowDraft {
  return { ...draft, outputs: draft.outputs.toSpliced(at, 1) };
}

/** The way of a payload as lines between the cards of the lanes. */
function wiresOf({ outputs }: FlowDraft): readonly Wire[] {
  return [
    ['devices', 'connector'],
    ['server', 'connector'],
    ['connector', 'decoder'],
    ...outputs.map((_, at) => ['decoder', `output ${at}`] as const),
  ];
}
