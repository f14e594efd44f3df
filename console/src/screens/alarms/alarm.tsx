// Alarm: what raised it, its life with comments, its values around that time, and who was notified.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  BellOff,
  BellRing,
  Check,
  CircleCheckBig,
  MessageSquare,
  Repeat,
  TriangleAlert,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { mailConnectorId } from '../../../../src/model/ids.ts';
import { type Alarm, alarmOf } from '../../api/alarms.ts';
import { onCallOrders } from '../../api/on-call.ts';
import { ask, platform } from '../../api/platform.ts';
import { useMay } from '../../session/permissions.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { late } from '../../ui/late.tsx';
import { Page } from '../../ui/page.tsx';
import { AlarmStateChip, Severity } from '../../ui/severity.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DeliveryChip } from '../outputs/delivery-state.tsx';
import type { Notification } from '../outputs/notify-field.tsx';
import { outputOf } from '../outputs/output-requests.ts';
import { AboutCard, useExists, ValuesCard } from './about-card.tsx';
import { ClearDialog, MuteDialog } from './action-dialogs.tsx';
import { type AlarmActions, type LifeEvent, lifeOf, useAlarmActions } from './alarm-actions.ts';
import { AlarmChart } from './alarm-chart.tsx';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';

const Why = late('Why', async () => (await import('../why/why.tsx')).Why);

// Messages card: whom the output of the alarm notifies of which change, and how each delivery went.

function MessagesCard({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const { workspaceId, outputConnectorId: outputId } = alarm;
  const recipientName = useRecipientName(workspaceId);
  const mayRead = useMay(workspaceId, 'dataFlow', 'read');
  const isThere = useExists(workspaceId, 'OUTPUT_CONNECTOR', mayRead ? outputId : undefined);
  const output = useQuery({ ...outputOf(outputId), enabled: isThere === true }).data;
  if (isThere !== true) return null;
  const properties = output?.alarmProperties as {
    readonly notify?: readonly (Notification & { readonly on: NotifiedChange })[];
  } | null;
  const notify = properties?.notify ?? [];
  return (
    <Card title={words.messages}>
      {output === undefined && <p className={styles['bones']}>{<Bone width="100%" />}</p>}
      <ul className={styles['messages']}>
        {notify.map((one) => (
          <Message
            key={JSON.stringify(one)}
            alarm={alarm}
            on={one.on}
            outputId={'outputConnectorId' in one ? one.outputConnectorId : mailConnectorId}
            name={recipientName(one)}
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

/** Returns the name of a recipient without an output of its own; undefined for an output. */
function useRecipientName(workspaceId: string) {
  const words = useWords(alarmsWords);
  const orders = useQuery(onCallOrders(workspaceId)).data?.content;
  return (one: Notification): string | undefined => {
    if ('emails' in one) return one.emails.join(', ');
    if ('outputConnectorId' in one) return undefined;
    return words.onCall(orders?.find(({ id }) => id === one.onCallId)?.name ?? one.onCallId);
  };
}

interface MessageProps {
  readonly alarm: Alarm;
  readonly on: NotifiedChange;
  readonly outputId: string;
  /** Instead of the output's. */
  readonly name: string | undefined;
}

function Message({ alarm, on, outputId, name }: MessageProps) {
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
          title={words.deliveries(name ?? output?.name ?? outputId)}
        >
          {name ?? output?.name ?? <Bone width="6em" />}
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

// Message match: which delivery of an output carried which change of an alarm.

type Delivery = components['schemas']['Delivery'];

const alarmChanges = ['OPENED', 'ACKNOWLEDGED', 'CLEARED', 'ESCALATED'] as const;
type NotifiedChange = (typeof alarmChanges)[number];

/** When the change happened; undefined while it has not. */
function changeTime(alarm: Alarm, change: NotifiedChange): string | undefined {
  const { firstTriggered, acknowledged, cleared, escalated } = alarm;
  switch (change) {
    case 'ACKNOWLEDGED':
      return acknowledged?.at;
    case 'CLEARED':
      return cleared?.at;
    case 'ESCALATED':
      return escalated ?? undefined;
    default:
      return firstTriggered;
  }
}

/** The newest delivery that notifies of the change; undefined without one. */
function deliveryOf(
  deliveries: readonly Delivery[],
  alarm: Alarm,
  change: NotifiedChange,
): Delivery | undefined {
  return deliveries
    .filter(({ alarmId, alarmChange }) => alarmId === alarm.id && alarmChange === change)
    .toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created))[0];
}

// Life card: what happened to the alarm, oldest first, and a field for a comment.

interface LifeCardProps {
  readonly alarm: Alarm;
  readonly actions: AlarmActions;
}

function LifeCard({ alarm, actions }: LifeCardProps) {
  const words = useWords(alarmsWords);
  return (
    <Card title={words.life}>
      <ol className={styles['life']}>
        {lifeOf(alarm).map((event) => (
          <LifeRow key={`${event.kind} ${event.at}`} alarm={alarm} event={event} />
        ))}
      </ol>
      <CommentForm alarm={alarm} actions={actions} />
    </Card>
  );
}

const marks: Readonly<Record<LifeEvent['kind'], readonly [ReactNode, string]>> = {
  OPENED: [<BellRing key="0" aria-hidden="true" />, 'bad'],
  COUNTED: [<Repeat key="1" aria-hidden="true" />, ''],
  ESCALATED: [<TriangleAlert key="2" aria-hidden="true" />, 'bad'],
  ACKNOWLEDGED: [<Check key="3" aria-hidden="true" />, 'warn'],
  COMMENTED: [<MessageSquare key="4" aria-hidden="true" />, ''],
  CLEARED: [<CircleCheckBig key="5" aria-hidden="true" />, 'ok'],
};

function LifeRow({ alarm, event }: { readonly alarm: Alarm; readonly event: LifeEvent }) {
  const words = useWords(alarmsWords);
  const { instant } = useFormats();
  const sentence = useSentence(alarm, event);
  const { kind, at, content } = event;
  const [picture, tone] = marks[kind];
  const reason = (words.reasons as Readonly<Record<string, string>>)[content ?? ''] ?? content;
  return (
    <li>
      <span className={`${styles['mark']} ${styles[tone] ?? ''}`}>{picture}</span>
      <span>{sentence}</span>
      <time className="num" dateTime={at}>
        {instant(at)}
      </time>
      {kind === 'COMMENTED' && <blockquote>{content}</blockquote>}
      {kind === 'CLEARED' && reason !== null && <small>{reason}</small>}
      {kind === 'COUNTED' && <small>{words.lastTrigger}</small>}
    </li>
  );
}

function useSentence({ count }: Alarm, { kind, by }: LifeEvent): string {
  const words = useWords(alarmsWords);
  switch (kind) {
    case 'COUNTED':
      return words.countedTimes(count);
    case 'ESCALATED':
      return words.escalated;
    case 'ACKNOWLEDGED':
      return words.acknowledgedBy(by ?? '');
    case 'COMMENTED':
      return words.commentBy(by ?? '');
    case 'CLEARED':
      return by === null ? words.clearedItself : words.clearedBy(by);
    default:
      return words.opened;
  }
}

function CommentForm({ alarm, actions }: LifeCardProps) {
  const words = useWords(alarmsWords);
  const [content, setContent] = useState('');
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (content.trim() === '') return;
        void actions.comment(alarm, content.trim());
        setContent('');
      }}
    >
      <TextArea
        label={words.commentLabel}
        maxLength={2_000}
        rows={2}
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
      />
      <Button needs="rule: update" type="submit" disabled={content.trim() === ''}>
        {words.addComment}
      </Button>
    </form>
  );
}

const route = getRouteApi('/signed-in/shell/w/$workspaceId/alarms/$alarmId');

export function AlarmPage() {
  const words = useWords(alarmsWords);
  const { workspaceId, alarmId } = route.useParams();
  const { data: alarm, error, refetch } = useQuery(alarmOf(workspaceId, alarmId));
  const actions = useAlarmActions(workspaceId);
  const path = `/v3/alarms/${alarmId}`;
  const name = alarm?.name ?? words.name;
  const back = (
    <Link key="alarms" to="/w/$workspaceId/alarms" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      title={alarm === undefined && error === null ? <Bone width="12em" /> : name}
      name={name}
      path={[back, name]}
      lead={alarm === undefined ? <Bone width="16em" /> : <Lead alarm={alarm} />}
      actions={
        <>
          {alarm !== undefined && alarm.device !== null && (
            <Why
              workspaceId={alarm.workspaceId}
              deviceId={alarm.device.id}
              question={{
                correlationId: alarm.correlationId,
                ...(alarm.rule && { ruleId: alarm.rule.id }),
              }}
            />
          )}
          <CurlButton request={{ path }} />
          {alarm !== undefined && <Actions alarm={alarm} actions={actions} />}
        </>
      }
    >
      {alarm === undefined && error !== null && (
        <Failure error={error} retry={() => void refetch()} curl={{ path }} />
      )}
      {alarm !== undefined && (
        <div className={`columns align-start gap-16 ${styles['columns']}`}>
          <div className="stack fit gap-16">
            <AlarmChart alarm={alarm} />
            <LifeCard alarm={alarm} actions={actions} />
          </div>
          <div className="stack fit gap-16">
            <AboutCard alarm={alarm} />
            <ValuesCard alarm={alarm} />
            <MessagesCard alarm={alarm} />
          </div>
        </div>
      )}
    </Page>
  );
}

function Lead({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const { instant } = useFormats();
  const { severity, state, firstTriggered, count: times, muted } = alarm;
  return (
    <>
      <Severity of={severity} />
      <AlarmStateChip of={state} />
      {muted !== null && (
        <span className="row inline gap-4">
          <BellOff aria-hidden="true" />
          {words.mutedUntil(instant(muted.until))}
        </span>
      )}
      <span>
        {words.opened} <Ago at={firstTriggered} />
        {times > 1 && ` · ${words.countedTimes(times)}`}
      </span>
    </>
  );
}

interface ActionsProps {
  readonly alarm: Alarm;
  readonly actions: AlarmActions;
}

function Actions({ alarm, actions }: ActionsProps) {
  const words = useWords(alarmsWords);
  const [isClearing, setClearing] = useState(false);
  const [isMuting, setMuting] = useState(false);
  if (alarm.state === 'CLEARED') return null;
  return (
    <>
      {alarm.muted === null ? (
        <Button needs="rule: update" onClick={() => setMuting(true)}>
          <BellOff aria-hidden="true" />
          {words.mute}
        </Button>
      ) : (
        <Unmute alarm={alarm} muteId={alarm.muted.muteId} actions={actions} />
      )}
      <Button needs="rule: update" aria-keyshortcuts="y" onClick={() => setClearing(true)}>
        <CircleCheckBig aria-hidden="true" />
        {words.clear}
      </Button>
      {alarm.state === 'OPEN' && (
        <Button
          needs="rule: update"
          look="primary"
          aria-keyshortcuts="e"
          onClick={() => void actions.acknowledge(alarm)}
        >
          <Check aria-hidden="true" />
          {words.acknowledge}
        </Button>
      )}
      {isClearing && (
        <ClearDialog
          what={alarm.name}
          close={() => setClearing(false)}
          act={(reason) => void actions.clear(alarm, reason)}
        />
      )}
      {isMuting && (
        <MuteDialog
          what={alarm.name}
          close={() => setMuting(false)}
          mute={(body) => void actions.mute(alarm, body)}
        />
      )}
    </>
  );
}

/** Only a mute of this alarm alone is ended here: another one keeps others quiet too. */
function Unmute({ alarm, muteId, actions }: ActionsProps & { readonly muteId: string }) {
  const words = useWords(alarmsWords);
  const mute = useQuery({
    queryKey: ['mute', muteId],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/mutes/{id}', { signal, params: { path: { id: muteId } } })),
  }).data;
  const { alarmKeys = [], ...others } = mute?.what ?? {};
  const isOwn = Object.keys(others).length === 0 && alarmKeys.join() === alarm.key;
  if (!isOwn) return null;
  return (
    <Button needs="rule: delete" onClick={() => void actions.unmute(alarm, muteId)}>
      <BellRing aria-hidden="true" />
      {words.unmute}
    </Button>
  );
}
