// Flow devices: the devices heard most recently with their last samples, and the notes about them.
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../parts/ago.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { ListBones } from '../../parts/list-table.tsx';
import { Answered, Empty } from '../../parts/states.tsx';
import { useWords } from '../../words/language.tsx';
import { devicesOf, inFlows } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';
import { SampleValues } from './sample-values.tsx';

const shownMax = 8;
const samplesMs = 5_000;

interface FlowDevicesProps {
  readonly workspaceId: string;
  readonly flowId: string;
}

export function FlowDevices({ workspaceId, flowId }: FlowDevicesProps) {
  const words = useWords(flowWords);
  const devices = useQuery(devicesOf(workspaceId, [flowId], shownMax));
  const body = { workspaceIds: [workspaceId], expression: inFlows([flowId]) };
  const curl = { method: 'POST', path: '/v3/assets/list', body } as const;
  return (
    <div className={styles['halves']}>
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
    <ul className={styles['rows']}>
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
        <ul className={styles['notes']}>
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
