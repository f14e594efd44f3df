// Flow page: one data flow as the way of a payload, edited in place, with what arrives through it.
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { ListBones } from '../../ui/paged-list.tsx';
import { Page } from '../../ui/page.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { bodyOf, changeOf, draftOf, type FlowDraft, FlowFields, newFlow } from './flow-lanes.tsx';
import { devicesOf, type Flow, flowHealthOf, flowOf, inFlows } from './flow-requests.ts';
import { flowsWords, flowWords } from './flows-words.ts';
import styles from './flows.module.css';
import { SendDialog } from './send-dialog.tsx';
import { FlowHealth, SampleValues } from './flow-parts.tsx';

const route = '/signed-in/shell/w/$workspaceId/flows/$flowId';

export function FlowPage() {
  const lists = useWords(flowsWords);
  const words = useWords(flowWords);
  const { workspaceId, flowId } = useParams({ from: route });
  const flow = useQuery(flowOf(flowId));
  const [isSending, setSending] = useState(false);
  const path = `/v3/data-flows/${flowId}`;
  const name = flow.data?.name ?? lists.flow;
  return (
    <Page
      isWide
      title={flow.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[<FlowsLink key="flows" workspaceId={workspaceId} />, name]}
      lead={flow.data === undefined ? <Bone /> : <Lead workspaceId={workspaceId} flowId={flowId} />}
      actions={
        <>
          <CurlButton request={{ path }} />
          <Button disabled={flow.data === undefined} onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {words.send}
          </Button>
        </>
      }
    >
      <Answered answer={flow} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <FlowEditor key={found.id} flow={found} />
            <FlowDevices workspaceId={workspaceId} flowId={flowId} />
            {isSending && (
              <SendDialog
                workspaceId={workspaceId}
                connector={found.deviceConnector}
                flowIds={[flowId]}
                close={() => setSending(false)}
              />
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}

export function FlowsLink({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(flowsWords);
  return (
    <Link to="/w/$workspaceId/flows" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
}

function Lead({ workspaceId, flowId }: { readonly workspaceId: string; readonly flowId: string }) {
  const flow = useQuery(flowHealthOf(workspaceId)).data?.find(({ id }) => id === flowId);
  return flow === undefined ? <Bone /> : <FlowHealth health={flow.health ?? null} />;
}

function FlowEditor({ flow }: { readonly flow: Flow }) {
  const words = useWords(flowWords);
  const { id, version, workspaceId } = flow;
  const editor = useEditor<FlowDraft, Flow>({
    key: `data flow ${id}`,
    saved: draftOf(flow),
    version,
    record: flowOf(id).queryKey,
    list: ['data-flows'],
    send: (draft, from) => {
      const body = { ...changeOf(draft), ...from };
      return ask(platform.PUT('/v3/data-flows/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <>
      <FlowFields
        key={editor.edition}
        workspaceId={workspaceId}
        flow={flow}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar needs="dataFlow: update" editor={editor} within={`/w/${workspaceId}/flows/${id}`}>
        <RemoveRecord
          needs="dataFlow: delete"
          name={flow.name}
          note={words.removeNote}
          send={() => ask(platform.DELETE('/v3/data-flows/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['data-flows']]}
          next={{ to: '/w/$workspaceId/flows', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}

// Flow devices: the devices heard most recently with their last samples, and the notes about them.

const shownMax = 8;
const samplesMs = 5_000;

interface FlowDevicesProps {
  readonly workspaceId: string;
  readonly flowId: string;
}

function FlowDevices({ workspaceId, flowId }: FlowDevicesProps) {
  const words = useWords(flowWords);
  const devices = useQuery(devicesOf(workspaceId, [flowId], shownMax));
  const body = { workspaceIds: [workspaceId], expression: inFlows([flowId]) };
  const curl = { method: 'POST', path: '/v3/assets/list', body } as const;
  return (
    <div className={`columns gap-16 align-start ${styles['halves']}`}>
      <Card title={words.lastSamples} note={words.lastSamplesNote}>
        <Answered answer={devices} curl={curl} skeleton={<ListBones rows={3} />}>
          {({ content }) =>
            content.length === 0 ? (
              <Empty
                title={words.noSamples}
                note={words.noSamplesNote}
                actions={
                  <ButtonLink to="/w/$workspaceId/devices/new" params={{ workspaceId }}>
                    {words.register}
                  </ButtonLink>
                }
              />
            ) : (
              <LastSamples devices={content} workspaceId={workspaceId} />
            )
          }
        </Answered>
      </Card>
      <Notes workspaceId={workspaceId} devices={devices.data?.content ?? []} />
    </div>
  );
}

interface Heard {
  readonly id: string;
  readonly name: string;
}

interface DeviceRowsProps {
  readonly workspaceId: string;
  readonly devices: readonly Heard[];
}

function LastSamples({ workspaceId, devices }: DeviceRowsProps) {
  const words = useWords(flowWords);
  const deviceIds = devices.map(({ id }) => id);
  const latest = useQuery({
    queryKey: ['latest of flow', deviceIds],
    refetchInterval: samplesMs,
    queryFn: ({ signal }) =>
      ask(platform.POST('/v3/devices/query/latest', { signal, body: { deviceIds } })),
  });
  const samples = new Map(
    latest.data?.content.map((one) => [one.deviceId, one.samples[0]] as const),
  );
  return (
    <ul className={`divided ${styles['rows']}`}>
      {devices.map(({ id, name }) => {
        const sample = samples.get(id);
        return (
          <li key={id}>
            <Link
              to="/w/$workspaceId/devices/$deviceId/overview"
              params={{ workspaceId, deviceId: id }}
            >
              {name}
            </Link>
            <span className="mute">
              {sample === undefined ? '' : <Ago at={sample.timestamp} />}
            </span>
            {sample === undefined ? (
              <span className="faint">{latest.isPending ? '' : words.nothingSent}</span>
            ) : (
              <SampleValues data={sample.data} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

const notedDevices = 5;
const notesOfDevice = 5;
const notesMs = 15_000;
const tones: Readonly<Record<string, Tone>> = { INFO: 'plain', WARN: 'warn', ERROR: 'bad' };

function Notes({ workspaceId, devices }: DeviceRowsProps) {
  const words = useWords(flowWords);
  const notes = useNotes(devices);
  return (
    <Card title={words.notes}>
      {notes.length === 0 ? (
        <Empty title={words.noNotes} note={words.noNotesNote} />
      ) : (
        <ul className={`divided ${styles['notes']}`}>
          {notes.map(({ id, level, timestamp, message, device }) => (
            <li key={id}>
              <p>
                <Chip tone={tones[level] ?? 'plain'}>{level}</Chip>
                <Link
                  to="/w/$workspaceId/devices/$deviceId/log"
                  params={{ workspaceId, deviceId: device.id }}
                >
                  {device.name}
                </Link>
                <span className="faint">
                  <Ago at={timestamp} />
                </span>
              </p>
              <span className="mute">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The newest notes of the devices heard most recently. */
function useNotes(devices: readonly Heard[]) {
  return useQueries({
    queries: devices.slice(0, notedDevices).map((device) => ({
      queryKey: ['notes', device.id],
      refetchInterval: notesMs,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { path: { id: device.id }, query: { size: notesOfDevice } };
        const path = '/v3/devices/{id}/processing-logs';
        const { content } = await ask(platform.GET(path, { signal, params }));
        return content.map((note) => ({ ...note, device }));
      },
    })),
    combine: (answers) =>
      answers
        .flatMap(({ data }) => data ?? [])
        .toSorted((a, b) => Number(a.timestamp < b.timestamp) - Number(a.timestamp > b.timestamp))
        .slice(0, shownMax),
  });
}

// New data flow: the same lanes, with the connector to choose; saving creates it.

const newRoute = '/signed-in/shell/w/$workspaceId/flows/new';

export function NewFlow() {
  const words = useWords(flowWords);
  const { workspaceId } = useParams({ from: newRoute });
  const navigate = useNavigate();
  const [first] = useState(() => newFlow(words.firstName));
  const editor = useEditor<FlowDraft, Flow>({
    key: `new data flow ${workspaceId}`,
    saved: first,
    list: ['data-flows'],
    send: (draft) => ask(platform.POST('/v3/data-flows', { body: bodyOf(draft, workspaceId) })),
    savedMessage: ({ name }) => words.created(name),
    onSaved: ({ id }) =>
      navigate({
        to: '/w/$workspaceId/flows/$flowId',
        params: { workspaceId, flowId: id },
        ignoreBlocker: true,
      }),
  });
  const body = bodyOf(editor.value, workspaceId);
  return (
    <Page
      isWide
      title={words.newTitle}
      name={words.newTitle}
      path={[<FlowsLink key="flows" workspaceId={workspaceId} />, words.newTitle]}
      actions={<CurlButton request={{ method: 'POST', path: '/v3/data-flows', body }} />}
    >
      <FlowFields
        key={editor.edition}
        workspaceId={workspaceId}
        flow={undefined}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <UnsavedBar
        needs="dataFlow: create"
        editor={editor}
        createLabel={words.create}
        isBlocked={editor.value.connectorId === ''}
      />
    </Page>
  );
}
