// Alarm mails: what a mail says about a change of an alarm (contract 39.4).
import type { AlarmEvent, NotifiedChange } from '../model/alarm.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { Mail } from '../model/mail.ts';

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
export function alarmMail(
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
