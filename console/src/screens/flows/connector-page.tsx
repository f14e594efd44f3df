// Connector page: its settings, how devices reach it, what uses it, and a payload to try it.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import type { PayloadEncoding } from '../../../../src/model/device-type.ts';
import type { LineProtocolMapping, SparkplugMapping } from '../../../../src/model/connector.ts';
import { faultAt, faultsOf, type FieldFaults } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton, CurlButton } from '../../ui/copy-button.tsx';
import { CheckField, TextArea, TextField } from '../../ui/field.tsx';
import { EncodingSelect } from '../../ui/encoding-select.tsx';
import { NameFields } from '../../ui/name-fields.tsx';
import { Page } from '../../ui/page.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { Answered, Bone, CodeBlock } from '../../ui/states.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { type Connector, connectorOf } from './flow-requests.ts';
import { flowsWords } from './flows-words.ts';
import styles from './flows.module.css';
import { SendDialog, useServerOf } from './send-dialog.tsx';
import { FlowHealth, healthOfAll, SecretValue, UsedBy, useFlowsWith } from './flow-parts.tsx';
import { commandFor, kindOf, webhookPath } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';
import type { components } from '../../../generated/interface-types.ts';
import { Ago } from '../../ui/ago.tsx';
import { Chip } from '../../ui/chip.tsx';
import { late } from '../../ui/late.tsx';
import { ListTable } from '../../ui/paged-list.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import { useMay } from '../../session/permissions.ts';
import { useAction } from '../../ui/use-action.ts';

const route = '/signed-in/shell/w/$workspaceId/flows/connectors/$connectorId';

export function ConnectorPage() {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const { workspaceId, connectorId } = useParams({ from: route });
  const connector = useQuery(connectorOf(connectorId));
  const flows = useFlowsWith({ workspaceId, connectorId }).data ?? [];
  const [isSending, setSending] = useState(false);
  const path = `/v3/device-connectors/${connectorId}`;
  const name = connector.data?.name ?? lists.connectors;
  const list = (
    <Link key="list" to="/w/$workspaceId/flows/connectors" params={{ workspaceId }}>
      {lists.connectors}
    </Link>
  );
  return (
    <Page
      title={connector.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[list, name]}
      lead={
        connector.data === undefined ? (
          <Bone />
        ) : (
          <>
            {kindOf(connector.data, words)}
            {flows.length > 0 && <FlowHealth health={healthOfAll(flows)} />}
          </>
        )
      }
      actions={
        <>
          <CurlButton request={{ path }} />
          <Button disabled={connector.data === undefined} onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {words.test}
          </Button>
        </>
      }
    >
      <Answered answer={connector} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <ConnectorAccess connector={found} />
            <RefusalsCard workspaceId={workspaceId} connectorId={found.id} />
            <ConnectorSettings key={found.id} connector={found} workspaceId={workspaceId} />
            <UsedBy workspaceId={workspaceId} connectorId={connectorId} />
            {isSending && (
              <SendDialog
                workspaceId={workspaceId}
                connector={found}
                flowIds={flows.map(({ id }) => id)}
                close={() => setSending(false)}
              />
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}

interface SettingsProps {
  readonly connector: Connector;
  readonly workspaceId: string;
}

interface ConnectorDraft {
  readonly name: string;
  readonly description: string;
  readonly isPushing: boolean;
  readonly encoding: PayloadEncoding | null;
  /** Null for connectors that take no points. */
  readonly points: LineProtocolDraft | null;
  /** Null for connectors without edge nodes. */
  readonly nodes: SparkplugDraft | null;
}

function ConnectorSettings({ connector, workspaceId }: SettingsProps) {
  const words = useWords(connectorWords);
  const { id, version, integrationId } = connector;
  const editor = useEditor<ConnectorDraft, Connector>({
    key: `device connector ${id}`,
    saved: draftOf(connector),
    version,
    record: connectorOf(id).queryKey,
    list: ['device-connectors'],
    send: ({ name, description, isPushing, encoding, points, nodes }, from) => {
      const about = description === '' ? null : description;
      const mapping = {
        ...(points !== null && { lineProtocol: lineProtocolOf(points) }),
        ...(nodes !== null && { sparkplug: sparkplugOf(nodes) }),
      };
      const pushing = { pushConfigurationAutomatically: isPushing, encoding };
      const body = { name, description: about, ...pushing, ...mapping, ...from };
      return ask(platform.PUT('/v3/device-connectors/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <Card title={words.settings}>
      <ConnectorFields
        connector={connector}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <div className={styles['bar']}>
        <UnsavedBar needs="dataFlow: update" editor={editor}>
          {integrationId === null ? (
            <RemoveRecord
              needs="dataFlow: delete"
              name={connector.name}
              note={words.removeNote}
              send={() =>
                ask(platform.DELETE('/v3/device-connectors/{id}', { params: { path: { id } } }))
              }
              discard={editor.discard}
              lists={[['device-connectors']]}
              next={{ to: '/w/$workspaceId/flows/connectors', params: { workspaceId } }}
            />
          ) : (
            <ButtonLink
              to="/w/$workspaceId/flows/integrations/$integrationId"
              params={{ workspaceId, integrationId }}
            >
              {words.openIntegration}
            </ButtonLink>
          )}
        </UnsavedBar>
      </div>
    </Card>
  );
}

function draftOf(connector: Connector): ConnectorDraft {
  const { name, description, pushConfigurationAutomatically, encoding } = connector;
  const { lineProtocol, sparkplug } = connector;
  return {
    name,
    encoding,
    description: description ?? '',
    isPushing: pushConfigurationAutomatically,
    points: lineProtocol && lineProtocolDraft(lineProtocol),
    nodes: sparkplug && sparkplugDraft(sparkplug),
  };
}

interface FieldsProps {
  readonly connector: Connector;
  readonly draft: ConnectorDraft;
  readonly change: (draft: ConnectorDraft) => void;
  readonly error: Error | null;
}

function ConnectorFields({ connector, draft, change, error }: FieldsProps) {
  const words = useWords(connectorWords);
  const faults = faultsOf(error);
  return (
    <div className={styles['fields']}>
      {connector.integrationId !== null && <p className="mute">{words.madeBy}</p>}
      <NameFields draft={draft} change={change} faults={faults} />
      {connector.connectivity === 'MQTT' && draft.nodes === null && (
        <CheckField
          label={words.push}
          isOn={draft.isPushing}
          change={(isOn) => change({ ...draft, isPushing: isOn })}
        />
      )}
      {hasPayloads(connector) && (
        <EncodingSelect
          value={draft.encoding}
          change={(encoding) => change({ ...draft, encoding })}
        />
      )}
      {draft.nodes !== null && (
        <SparkplugFields
          draft={draft.nodes}
          change={(nodes) => change({ ...draft, nodes })}
          faults={faults}
        />
      )}
      {draft.points !== null && (
        <LineProtocolFields
          draft={draft.points}
          change={(points) => change({ ...draft, points })}
          faults={faults}
        />
      )}
    </div>
  );
}

/** Whether its devices send payloads of their own. */
function hasPayloads({ connectivity, decodingType, lineProtocol, sparkplug }: Connector): boolean {
  const isOther = lineProtocol !== null || sparkplug !== null || decodingType !== 'NONE';
  return connectivity !== 'LORA' && !isOther;
}

// Connector access: the address, the secret behind dots, and a command that sends as one of its devices.

const exampleDevice = 'DEVICE_ID';
const exampleEui = '70b3d57ed0001a2b';

function ConnectorAccess({ connector }: { readonly connector: Connector }) {
  const words = useWords(connectorWords);
  const server = useServerOf(connector);
  const [nowMs] = useState(() => Date.now());
  const { id, uplinkSecret, authType, connectivity } = connector;
  const deviceId = server === undefined ? exampleDevice : exampleEui;
  const command = commandFor({ connector, deviceId, server, secret: undefined, nowMs });
  const copied = commandFor({
    connector,
    deviceId,
    server,
    secret: uplinkSecret ?? undefined,
    nowMs,
  });
  const copyWords = { show: words.show, hide: words.hide, copy: words.copySecret };
  const isSecret = authType === 'BASIC';
  return (
    <Card title={words.access} note={words.accessNote} isPadded>
      <div className="stack gap-16">
        <dl className="facts align-center gap-x-20">
          {connectivity === 'HTTP' || connectivity === 'LORA' ? (
            <>
              <dt>{words.address}</dt>
              <dd className="mono">{location.origin + webhookPath(connector)}</dd>
            </>
          ) : (
            <>
              <dt>{connectivity === 'MQTT' ? words.user : words.id}</dt>
              <dd className="mono">{id}</dd>
            </>
          )}
          <dt>{words.secret}</dt>
          <dd>
            {uplinkSecret === null ? (
              <span className="faint">{isSecret ? words.hidden : words.noSecret}</span>
            ) : (
              <SecretValue secret={uplinkSecret} words={copyWords} />
            )}
          </dd>
        </dl>
        {isSecret && (
          <div className={`stack gap-10 ${styles['code']}`}>
            <CodeBlock code={command} />
            <div>
              <CopyButton content={copied}>{words.copyCommand}</CopyButton>
            </div>
          </div>
        )}
      </div>
    </Card>
  );
}

// Sparkplug fields: which devices the edge nodes of a connector and their devices are.

/** The mapping as it is edited. */
interface SparkplugDraft extends Omit<SparkplugMapping, 'createDevices'> {
  readonly isCreating: boolean;
  readonly devicesMax: string;
}

const devicesMaxFirst = '100';

function sparkplugDraft({ createDevices, ...mapping }: SparkplugMapping): SparkplugDraft {
  const devicesMax = String(createDevices?.devicesMax ?? devicesMaxFirst);
  return { ...mapping, isCreating: createDevices !== null, devicesMax };
}

function sparkplugOf({ isCreating, devicesMax, ...mapping }: SparkplugDraft) {
  return { ...mapping, createDevices: isCreating ? { devicesMax: Number(devicesMax) } : null };
}

interface SparkplugFieldsProps {
  readonly draft: SparkplugDraft;
  readonly change: (draft: SparkplugDraft) => void;
  readonly faults: FieldFaults;
}

const names = ['node', 'device', 'topic', 'hostId'] as const;

function SparkplugFields({ draft, change, faults }: SparkplugFieldsProps) {
  const words = useWords(connectorWords);
  return (
    <>
      {names.map((name) => (
        <TextField
          key={name}
          label={words.sparkplugFields[name]}
          hint={words.sparkplugNotes[name]}
          className="mono"
          spellCheck={false}
          required
          value={draft[name]}
          error={faultAt(faults, `sparkplug.${name}`)}
          onChange={({ currentTarget: { value } }) => change({ ...draft, [name]: value })}
        />
      ))}
      <CheckField
        label={words.createNodes}
        hint={words.createNodesNote}
        isOn={draft.isCreating}
        change={(isCreating) => change({ ...draft, isCreating })}
      />
      {draft.isCreating && (
        <TextField
          label={words.devicesMax}
          type="number"
          min={1}
          required
          value={draft.devicesMax}
          error={faultAt(faults, 'sparkplug.createDevices')}
          onChange={({ currentTarget: { value } }) => change({ ...draft, devicesMax: value })}
        />
      )}
    </>
  );
}

// Line protocol fields: which device and topic a point of an InfluxDB sender is of.

/** The mapping as it is edited: a template a line. */
interface LineProtocolDraft {
  readonly device: string;
  readonly topic: string;
  readonly isCreating: boolean;
  readonly devicesMax: string;
}

function lineProtocolDraft(mapping: LineProtocolMapping): LineProtocolDraft {
  const { device, topic, createDevices } = mapping;
  return {
    device: device.join('\n'),
    topic,
    isCreating: createDevices !== null,
    devicesMax: String(createDevices?.devicesMax ?? devicesMaxFirst),
  };
}

function lineProtocolOf({ device, topic, isCreating, devicesMax }: LineProtocolDraft) {
  const templates = device.split('\n').map((line) => line.trim());
  return {
    device: templates.filter((template) => template !== ''),
    topic: topic.trim(),
    createDevices: isCreating ? { devicesMax: Number(devicesMax) } : null,
  };
}

interface LineProtocolFieldsProps {
  readonly draft: LineProtocolDraft;
  readonly change: (draft: LineProtocolDraft) => void;
  readonly faults: FieldFaults;
}

function LineProtocolFields({ draft, change, faults }: LineProtocolFieldsProps) {
  const words = useWords(connectorWords);
  return (
    <>
      <TextArea
        label={words.pointDevice}
        hint={words.pointDeviceNote}
        rows={4}
        className="mono"
        spellCheck={false}
        value={draft.device}
        error={faultAt(faults, 'lineProtocol.device')}
        onChange={({ currentTarget: { value } }) => change({ ...draft, device: value })}
      />
      <TextField
        label={words.pointTopic}
        hint={words.pointTopicNote}
        className="mono"
        spellCheck={false}
        value={draft.topic}
        error={faultAt(faults, 'lineProtocol.topic')}
        onChange={({ currentTarget: { value } }) => change({ ...draft, topic: value })}
      />
      <CheckField
        label={words.createDevices}
        hint={words.createDevicesNote}
        isOn={draft.isCreating}
        change={(isCreating) => change({ ...draft, isCreating })}
      />
      {draft.isCreating && (
        <TextField
          label={words.devicesMax}
          type="number"
          min={1}
          required
          value={draft.devicesMax}
          error={faultAt(faults, 'lineProtocol.createDevices')}
          onChange={({ currentTarget: { value } }) => change({ ...draft, devicesMax: value })}
        />
      )}
    </>
  );
}

// Refused here: uplinks of a connector that the platform did not take, with the reason and what was sent.

const RegisterRefused = late(
  'RegisterRefused',
  async () => (await import('../why/register-refused.tsx')).RegisterRefused,
);

type Refusal = components['schemas']['Refusal'];

/** The platform shows a refusal within five seconds. */
const refreshMs = 5_000;
const rowsMax = 50;

const refusalsOf = (id: string) =>
  queryOptions({
    queryKey: ['refusals', id],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { size: rowsMax } };
      return ask(platform.GET('/v3/device-connectors/{id}/refusals', { signal, params }));
    },
  });

interface RefusalsCardProps {
  readonly workspaceId: string;
  readonly connectorId: string;
}

/** Nothing while nothing was refused. */
export function RefusalsCard({ workspaceId, connectorId }: RefusalsCardProps) {
  const words = useWords(connectorWords);
  const { count } = useFormats();
  const mayClear = useMay(workspaceId, 'asset', 'delete');
  const known = useQueryClient();
  const { data } = useQuery(refusalsOf(connectorId));
  const clear = useAction({
    mutationFn: () =>
      ask(
        platform.DELETE('/v3/device-connectors/{id}/refusals', {
          params: { path: { id: connectorId } },
        }),
      ),
    onError: toastFailure,
    onSettled: () => known.invalidateQueries({ queryKey: ['refusals'] }),
  });
  if (data === undefined || data.totalElements === 0) return null;
  return (
    <Card
      title={words.refusedHere}
      note={words.refusedNote}
      mark={<Chip>{count(data.totalElements)}</Chip>}
      actions={
        <Button disabled={!mayClear || clear.isPending} onClick={() => clear.mutate()}>
          {words.clearRefused}
        </Button>
      }
    >
      <ListTable
        headers={[words.refusedId, words.refusedReason, words.refusedLast, words.refusedTimes]}
        actions={words.registerRefused}
      >
        {data.content.map((refusal) => (
          <RefusalRow key={refusal.id} refusal={refusal} workspaceId={workspaceId} />
        ))}
      </ListTable>
    </Card>
  );
}

interface RowProps {
  readonly refusal: Refusal;
  readonly workspaceId: string;
}

function RefusalRow({ refusal, workspaceId }: RowProps) {
  const words = useWords(connectorWords);
  const { count } = useFormats();
  const { deviceId, reason, transport, message, last, payload, registeredDeviceId } = refusal;
  const [isRegistering, setRegistering] = useState(false);
  return (
    <tr>
      <th scope="row" className="mono">
        {deviceId ?? words.noRefusedId}
      </th>
      <td>
        {words.refusedReasons[reason]} <span className="faint">{transport}</span>
        <details className="breaks">
          <summary>{words.refusedMore}</summary>
          <p>{message}</p>
          {payload !== null && <CodeBlock code={payload} />}
        </details>
      </td>
      <td>
        <Ago at={last} />
      </td>
      <td className="num">{count(refusal.count)}</td>
      <td>
        {reason === 'UNKNOWN_DEVICE' && deviceId !== null && registeredDeviceId === null && (
          <Button needs="asset: create" aria-haspopup="dialog" onClick={() => setRegistering(true)}>
            {words.registerRefused}
          </Button>
        )}
        {registeredDeviceId !== null && (
          <ButtonLink
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId, deviceId: registeredDeviceId }}
          >
            {words.refusedDevice}
          </ButtonLink>
        )}
        {isRegistering && deviceId !== null && (
          <RegisterRefused
            workspaceId={workspaceId}
            deviceId={deviceId}
            refusalId={refusal.id}
            close={() => setRegistering(false)}
          />
        )}
      </td>
    </tr>
  );
}
