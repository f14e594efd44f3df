// Messages card: whom the output of the alarm notifies of which change, and how each delivery went.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Alarm } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../parts/ago.tsx';
import { Card } from '../../parts/card.tsx';
import { Bone } from '../../parts/states.tsx';
import { useMay } from '../../session/permissions.ts';
import { useWords } from '../../words/language.tsx';
import { DeliveryChip } from '../outputs/delivery-state.tsx';
import { outputOf } from '../outputs/output-requests.ts';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';
import { changeTime, deliveryOf, type NotifiedChange } from './message-match.ts';
import { useExists } from './use-exists.ts';

interface Notification {
  readonly on: NotifiedChange;
  readonly outputConnectorId: string;
}

export function MessagesCard({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const { workspaceId, outputConnectorId: outputId } = alarm;
  const mayRead = useMay(workspaceId, 'dataFlow', 'read');
  const isThere = useExists(workspaceId, 'OUTPUT_CONNECTOR', mayRead ? outputId : undefined);
  const output = useQuery({ ...outputOf(outputId), enabled: isThere === true }).data;
  if (isThere !== true) return null;
  const properties = output?.alarmProperties as {
    readonly notify?: readonly Notification[];
  } | null;
  const notify = properties?.notify ?? [];
  return (
    <Card title={words.messages}>
      {output === undefined && <p className={styles['bones']}>{<Bone width="100%" />}</p>}
      <ul className={styles['messages']}>
        {notify.map(({ on, outputConnectorId }) => (
          <Message
            key={`${on} ${outputConnectorId}`}
            alarm={alarm}
            on={on}
            outputId={outputConnectorId}
          />
        ))}
      </ul>
      <div className={styles['more']}>
        {output !== undefined && notify.length === 0 && <span>{words.noMessages}</span>}
        <Link to="/w/$workspaceId/outputs/$outputId/settings" params={{ workspaceId, outputId }}>
          {words.editOutput}
        </Link>
      </div>
    </Card>
  );
}

interface MessageProps {
  readonly alarm: Alarm;
  readonly on: NotifiedChange;
  readonly outputId: string;
}

function Message({ alarm, on, outputId }: MessageProps) {
  const words = useWords(alarmsWords);
  const { workspaceId } = alarm;
  const output = useQuery(outputOf(outputId)).data;
  const deliveries = useDeliveries(alarm, outputId);
  const found = deliveries && deliveryOf(deliveries, alarm, on);
  return (
    <li>
      <span>
        <Link
          to="/w/$workspaceId/outputs/$outputId/deliveries"
          params={{ workspaceId, outputId }}
          title={words.deliveries(output?.name ?? outputId)}
        >
          {output?.name ?? <Bone width="6em" />}
        </Link>
        <small>
          {words.on[on]}
          {found !== undefined && ' · '}
          {found !== undefined && <Ago at={found.updated} />}
        </small>
      </span>
      {found !== undefined && <DeliveryChip state={found.state} />}
      {found === undefined && deliveries !== undefined && (
        <span className="faint">
          {changeTime(alarm, on) === undefined ? words.notYet : words.notFound}
        </span>
      )}
    </li>
  );
}

const deliveriesMax = 200;

/** Those of its device when the key names the device, which then orders its messages. */
function useDeliveries(alarm: Alarm, outputId: string) {
  const { device, key, version } = alarm;
  const isOfDevice = device !== null && key.includes(device.id);
  const query = { size: deliveriesMax, ...(isOfDevice ? { deviceId: device.id } : {}) };
  return useQuery({
    queryKey: ['deliveries', outputId, 'alarm', query, version],
    refetchInterval: 5_000,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/output-connectors/{id}/deliveries', {
          signal,
          params: { path: { id: outputId }, query },
        }),
      ),
    select: ({ content }) => content,
  }).data;
}
