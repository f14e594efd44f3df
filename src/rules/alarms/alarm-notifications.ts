// Alarm notifications: messages to outputs, notes for devices and live events, with the change of the alarm (contract 37).
import { type AlarmView, alarmViews } from '../../inventory/alarms/alarm-lists.ts';
import {
  type Alarm,
  type AlarmChange,
  type AlarmEvent,
  alarmLimits,
  type AlarmMute,
  type AlarmNotification,
  type AlarmProperties,
  mutedAlarm,
  type NotifiedChange,
} from '../../model/alarm.ts';
import { type DeliveryDraft, mailDelivery } from '../../model/delivery.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { TemplateContext } from '../../model/template-context.ts';
import type { Records, RecordsDb, TransactionStep } from '../../storage/records/records.ts';
import { alarmRows } from '../../storage/records/rows/alarms.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import type { Json } from '../../model/json.ts';
import type { Mail } from '../../model/mail.ts';
import { leftOf, zoneOfOrder } from '../../inventory/alarms/on-call.ts';
import { onCallAt } from '../../model/on-call.ts';
import { organizationMemberRows } from '../../storage/records/rows/users.ts';
import { muteRows, onCallRows } from '../../storage/records/rows/mutes.ts';
import { mutes, muteWindowAt } from '../../model/mute.ts';
import { openTimeZones } from '../../model/time-zone.ts';
import { placeRows } from '../../storage/records/rows/places.ts';

/** An event with the alarm as others see it. Values only, so that any part may keep it. */
export interface ShownAlarmEvent {
  readonly kind: 'ALARM';
  readonly change: AlarmChange;
  readonly alarm: AlarmView;
  readonly timestamp: string;
}

/** Events that are shown and noted before others have their turn. */
const eventsPerTurn = 200;

export interface AlarmEffectParts {
  /** Lets others have their turn. */
  readonly pause: () => Promise<unknown>;
  readonly now: () => EpochMs;
  readonly sealer: Records['sealer'];
  /** Address of an alarm in the console. */
  readonly linkTo: (workspaceId: string, alarmId: string) => string;
  /** The deliveries are committed or rolled back with the step. */
  readonly enqueueDeliveries: (
    deliveries: readonly DeliveryDraft[],
    step: TransactionStep,
  ) => Promise<unknown>;
  /** Called with what is durable, in order. */
  readonly changed: (
    events: readonly AlarmEvent[],
    shown: readonly ShownAlarmEvent[],
    refused: number,
  ) => void;
}

/** Resolves to the events as others see them, once their messages and notes are written. */
export async function notifyOfAlarms(
  parts: AlarmEffectParts,
  step: TransactionStep,
  events: readonly AlarmEvent[],
): Promise<readonly ShownAlarmEvent[]> {
  const shown: ShownAlarmEvent[] = [];
  for (let from = 0; from < events.length; from += eventsPerTurn) {
    if (from > 0) await parts.pause();
    shown.push(...(await notifyOfSome(parts, step, events.slice(from, from + eventsPerTurn))));
  }
  return shown;
}

async function notifyOfSome(
  { sealer, enqueueDeliveries, linkTo, now }: AlarmEffectParts,
  step: TransactionStep,
  sent: readonly AlarmEvent[],
): Promise<readonly ShownAlarmEvent[]> {
  const { db } = step;
  const events = await withMutes(db, sent);
  const shown = await shownEvents(db, events);
  const isNotified = ({ change }: AlarmEvent) => change !== 'UPDATED' && change !== 'COMMENTED';
  const telling = new Set(events.filter((event) => isNotified(event) && !event.isMuted));
  const connectorIds = new Set([...telling].map(({ alarm }) => alarm.connectorId));
  const properties = await outputConnectorRows.findReadableProperties({ db, sealer }, [
    ...connectorIds,
  ]);
  const wanted = events.map((event) => {
    if (!telling.has(event)) return [];
    const own = properties.get(event.alarm.connectorId) as AlarmProperties | undefined;
    return (own?.notify ?? []).filter(({ on }) => on === event.change);
  });
  const orders = events.flatMap(({ alarm: { organizationId } }, place) =>
    (wanted[place] ?? []).flatMap((one) =>
      'onCallId' in one ? [{ onCallId: one.onCallId, organizationId }] : [],
    ),
  );
  const recipientOf = await onCallRecipients(db, orders, now());
  const drafts = events.flatMap((event, place) => {
    const own = wanted[place] ?? [];
    if (own.length === 0) return [];
    const context = contextOf(event, shown[place]);
    return own.map((one, i) => {
      if ('outputConnectorId' in one) {
        const connectorId = one.outputConnectorId;
        return { ...aboutOf(event, connectorId, context), connectorId };
      }
      const { to, why } = mailRecipient(event, one, recipientOf);
      const mail = alarmMail(event, to, { linkTo, why });
      return mailDelivery(mail, aboutOf(event, `mail-${i}`, context));
    });
  });
  if (drafts.length > 0) await enqueueDeliveries(drafts, step);
  await processingLogRows.append(db, events.flatMap(eventNotes));
  return shown;
}

function mailRecipient(
  { alarm: { organizationId }, change }: AlarmEvent,
  one: Exclude<AlarmNotification, { readonly outputConnectorId: string }>,
  recipientOf: RecipientOf,
): { readonly to: readonly string[]; readonly why?: string } {
  if ('emails' in one) return { to: one.emails };
  return recipientOf({ onCallId: one.onCallId, organizationId }, change as NotifiedChange);
}

/** An event, and whether a mute keeps it quiet. */
interface MutedEvent extends AlarmEvent {
  readonly isMuted: boolean;
}

/**
 * Asks the mutes of the moment about what would be told. An alarm that opens under a mute is marked
 * with it, so that it tells at its end; one that became too severe for its mute is due at once.
 */
async function withMutes(
  db: RecordsDb,
  events: readonly AlarmEvent[],
): Promise<readonly MutedEvent[]> {
  const isAsked = ({ change, alarm }: AlarmEvent) =>
    (change !== 'UPDATED' && change !== 'COMMENTED') || alarm.muted !== null;
  const asked = events.filter(isAsked);
  if (asked.length === 0) return events.map((event) => ({ ...event, isMuted: false }));
  const at = Math.max(...asked.map((event) => event.at));
  const muteOf = await mutesAt(
    db,
    asked.map(({ alarm }) => alarm),
    at,
  );
  const marked = new Map<string, AlarmMute>();
  const told = events.map((event): MutedEvent => {
    const { change, alarm } = event;
    const muted = isAsked(event) ? muteOf(alarm) : null;
    if (change === 'OPENED' && muted !== null) marked.set(alarm.id, muted);
    if (change === 'UPDATED' && alarm.muted !== null && muted === null)
      marked.set(alarm.id, { ...alarm.muted, until: at });
    return { ...event, isMuted: muted !== null };
  });
  if (marked.size === 0) return told;
  await alarmRows.markMuted(db, marked);
  return told.map((event) => {
    const muted = marked.get(event.alarm.id);
    const isOpen = event.alarm.state !== 'CLEARED';
    return muted === undefined || !isOpen ? event : { ...event, alarm: { ...event.alarm, muted } };
  });
}

async function shownEvents(step: RecordsDb, events: readonly AlarmEvent[]) {
  const alarms = events.map(({ alarm }) => alarm);
  const views = await alarmViews(step, alarms);
  return events.map(({ change, at }, place): ShownAlarmEvent => {
    const alarm = views[place];
    if (alarm === undefined) throw new Error('An alarm has no view');
    return { kind: 'ALARM', change, alarm, timestamp: formatInstant(at) };
  });
}

/** A delivery without its connector; `recipient` distinguishes those of one change. */
function aboutOf(
  { change, alarm, hops }: AlarmEvent,
  recipient: string,
  context: TemplateContext,
): Omit<DeliveryDraft, 'connectorId'> {
  return {
    idempotencyKey: `alarm:${alarm.id}:${alarm.version}:${change}:${recipient}`,
    organizationId: alarm.organizationId,
    workspaceId: alarm.workspaceId,
    deviceId: alarm.orderedBy,
    correlationId: alarm.correlationId,
    cause: 'RULE',
    ruleId: alarm.rule.id,
    context,
    ruleHops: hops,
  };
}

/** What templates of the output can contain; without a template the whole is sent. */
function contextOf(
  { change, alarm, at, sampleTime }: AlarmEvent,
  shown: ShownAlarmEvent | undefined,
): TemplateContext {
  const { device, rule, workspaceId, correlationId } = alarm;
  return {
    data: alarm.data,
    timestamp: formatInstant(sampleTime ?? at),
    ...(shown !== undefined && { alarm: shown.alarm }),
    change,
    correlationId,
    ...(device !== null && {
      deviceId: device.deviceId,
      svcDeviceId: device.id,
      akenzaDeviceId: device.id,
      device: { ...device },
    }),
    rule: { ruleId: rule.id, name: rule.name, description: null, workspaceId },
  };
}

/** Of an alarm that opened or ended, for its device. */
function eventNotes({ change, alarm, at }: AlarmEvent): readonly ProcessingLogEntry[] {
  const { id, name, device, rule, cleared, correlationId, connectorId } = alarm;
  if (device === null || (change !== 'OPENED' && change !== 'CLEARED')) return [];
  const end = cleared === null ? 'opened' : `cleared: ${cleared.reason ?? 'without a reason'}`;
  return [
    {
      id: `alarm-${id}-${change}`,
      deviceId: device.id,
      timestamp: at,
      correlationId,
      level: 'INFO',
      source: 'RULE',
      message: `Rule ${rule.name}: alarm ${name} ${end}`,
      details: { ruleId: rule.id, alarmId: id, outputConnectorId: connectorId },
    },
  ];
}

// Alarm feed: durable changes of alarms as values, for live events and counts (contract 37).

type Follow = (event: ShownAlarmEvent) => void;

export class AlarmFeed {
  readonly #followers: Follow[] = [];

  /** Adds a function that is called for each durable change, in the order of each alarm's changes. */
  follow(follow: Follow): void {
    this.#followers.push(follow);
  }

  publish(events: readonly ShownAlarmEvent[]): void {
    for (const event of events) for (const follow of this.#followers) follow(event);
  }
}

// Alarm mails: what a mail says about a change of an alarm (contract 39.4).

/** Of a device that sends much, the mail shows the first values. */
const valuesMax = 20;
const valueCharactersMax = 200;
const subjectCharactersMax = 200;

const happened: Readonly<Record<NotifiedChange, string>> = {
  OPENED: 'opened',
  ACKNOWLEDGED: 'acknowledged',
  CLEARED: 'cleared',
  ESCALATED: 'not acknowledged',
  REMINDER: 'still open',
};

/** `linkTo` is the address of the alarm in the console, `why` the line that says why somebody gets it. */
function alarmMail(
  { alarm, change, at }: AlarmEvent,
  to: readonly string[],
  {
    linkTo,
    why,
  }: {
    readonly linkTo: (workspaceId: string, alarmId: string) => string;
    readonly why?: string | undefined;
  },
): Mail {
  const { name, severity, device, rule, count, firstTriggered, lastTriggered } = alarm;
  const what = happened[change as NotifiedChange];
  const lines = [
    `${name}: ${what} at ${timeText(at)}`,
    '',
    `Severity: ${severity}`,
    ...(device === null ? [] : [`Device: ${device.name} (${device.deviceId})`]),
    `Rule: ${rule.name}`,
    `First triggered: ${timeText(firstTriggered)}`,
    `Last triggered: ${timeText(lastTriggered)}, ${count} ${count === 1 ? 'time' : 'times'} in all`,
    ...actorLines(alarm),
    ...valueLines(alarm.data),
    ...(why === undefined ? [] : ['', why]),
    '',
    linkTo(alarm.workspaceId, alarm.id),
  ];
  const subject = `${severity}: ${name}, ${what}`.replaceAll(/\s+/g, ' ');
  return { to, subject: cut(subject, subjectCharactersMax), text: lines.join('\n') };
}

function actorLines({ acknowledged, cleared }: AlarmEvent['alarm']): string[] {
  const lines: string[] = [];
  if (acknowledged !== null) lines.push(`Acknowledged by: ${acknowledged.by.name}`);
  if (cleared !== null && cleared.by !== null) lines.push(`Cleared by: ${cleared.by.name}`);
  if (cleared !== null && cleared.reason !== null) lines.push(`Reason: ${cleared.reason}`);
  return lines;
}

function valueLines(data: Readonly<Record<string, Json>>): string[] {
  const entries = Object.entries(data);
  if (entries.length === 0) return [];
  const shown = entries.slice(0, valuesMax).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `  ${cut(key, valueCharactersMax)}: ${cut(text.replaceAll(/\s+/g, ' '), valueCharactersMax)}`;
  });
  const more = entries.length - shown.length;
  return ['', 'Values:', ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

/** Readers are in many time zones: the zone stands beside the time. */
function timeText(at: EpochMs): string {
  return `${formatInstant(at)?.slice(0, 19).replace('T', ' ')} UTC`;
}

// Alarms and on-call orders: whose address gets the mail of a change (contract 39.4).

/** An order that an output connector of the organization notifies. */
interface NotifiedOrder {
  readonly onCallId: string;
  readonly organizationId: string;
}

/** `why` is a line of the mail. */
type RecipientOf = (
  order: NotifiedOrder,
  change: NotifiedChange,
) => { readonly to: readonly string[]; readonly why: string };

/**
 * Reads who is on call at the moment, in the transaction that changes the alarms. ESCALATED goes to
 * whoever is next. When everybody has left, or the order is gone, the owners of the organization get
 * the mail.
 */
async function onCallRecipients(
  db: RecordsDb,
  orders: readonly NotifiedOrder[],
  at: EpochMs,
): Promise<RecipientOf> {
  const found = await onCallRows.byId(db, [...new Set(orders.map(({ onCallId }) => onCallId))]);
  const left = await leftOf(db, [...found.values()]);
  const owners = new Map<string, readonly string[]>();
  const onCall = new Map(
    [...found].map(([id, order]) => {
      const now = onCallAt(order, zoneOfOrder(order), at, left.get(id));
      return [id, { name: order.name, ...now }] as const;
    }),
  );
  for (const { onCallId, organizationId } of orders) {
    if ((onCall.get(onCallId)?.email ?? null) !== null || owners.has(organizationId)) continue;
    owners.set(
      organizationId,
      await organizationMemberRows.ownerEmails(db, organizationId, alarmLimits.emailsMax),
    );
  }
  return ({ onCallId, organizationId }, change) => {
    const now = onCall.get(onCallId);
    if (now === undefined || now.email === null) {
      const nobody =
        now === undefined ? 'The on-call order was deleted' : `Nobody is on call: ${now.name}`;
      const why = `${nobody}. This mail goes to the owners of the organization.`;
      return { to: owners.get(organizationId) ?? [], why };
    }
    if (change === 'ESCALATED' && now.next !== null)
      return { to: [now.next], why: `On call: ${now.name}. ${now.email} has not acknowledged.` };
    const until = now.until === null ? '' : `, until ${formatInstant(now.until)}`;
    return { to: [now.email], why: `On call: ${now.name}${until}` };
  };
}

// Alarm mutes: which alarms tell nobody at a moment (contract 39.4).

/** Zones of weekly mutes, each read once. */
export const zoneOf = openTimeZones();

/** Returns the mute that keeps an alarm quiet at the moment, the one that ends last; null for none. */
type MuteOf = (alarm: Alarm) => AlarmMute | null;

/**
 * Reads what mutes the alarms at the moment, in the transaction that changes them: a mute is in
 * effect with its commit.
 */
export async function mutesAt(
  db: RecordsDb,
  alarms: readonly Alarm[],
  at: EpochMs,
): Promise<MuteOf> {
  const workspaceIds = [...new Set(alarms.map(({ workspaceId }) => workspaceId))];
  const current = await muteRows.current(db, workspaceIds, at);
  const inEffect = current.flatMap((mute) => {
    const window = muteWindowAt(mute, zoneOf, at);
    return window === undefined ? [] : [{ mute, until: window.to }];
  });
  if (inEffect.length === 0) return () => null;
  const groups = inEffect.some(({ mute: { what } }) => 'tagIds' in what || 'placeIds' in what)
    ? await placeRows.groupsOfDevices(db, [
        ...new Set(alarms.flatMap(({ device }) => device?.id ?? [])),
      ])
    : new Map<string, ReadonlySet<string>>();
  const latestFirst = inEffect.toSorted((a, b) => b.until - a.until);
  return (alarm) => {
    const own = groups.get(alarm.device?.id ?? '') ?? new Set();
    const found = latestFirst.find(
      ({ mute }) => mute.workspaceId === alarm.workspaceId && mutes(mute, alarm, own),
    );
    return found === undefined ? null : { muteId: found.mute.id, until: found.until };
  };
}

/**
 * The alarm as the mutes of the moment make it, with the event of one that tells again: it is open
 * and nobody has acknowledged it.
 */
export function remuted(
  alarm: Alarm,
  muted: AlarmMute | null,
  at: EpochMs,
): { readonly alarm: Alarm; readonly event: AlarmEvent | undefined } {
  const next = mutedAlarm(alarm, muted, at);
  const tells = alarm.muted !== null && muted === null && alarm.state === 'OPEN';
  const sampleTime = alarm.sampleTime?.last ?? null;
  const event = tells
    ? ({ change: 'OPENED', alarm: next, at, hops: 0, sampleTime } as const)
    : undefined;
  return { alarm: next, event };
}

export function isMutedAs({ muted }: Alarm, other: AlarmMute | null): boolean {
  return muted?.muteId === other?.muteId && muted?.until === other?.until;
}
