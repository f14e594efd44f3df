// Told steps: what happened at a step of a trace, for readers of another language than that of the platform.
import type { components } from '../../../generated/interface-types.ts';
import type { RefusalReason } from '../../../../src/model/uplink.ts';
import { counted, type Formats } from '../../words/formats.ts';
import type { Language } from '../../words/word-set.ts';

type Step = components['schemas']['DeviceTrace']['steps'][number];

/** What the platform says of the figures of a step. */
interface Details {
  readonly [name: string]: unknown;
}

type Tell = (step: Step, details: Details, formats: Formats) => string | undefined;

/** Undefined where the words of the code say everything. */
export const toldSteps: Readonly<Partial<Record<Language, Tell>>> = { de: toldInGerman };

/** A part of the step that scripts, targets and rules say in their own words. */
export function quotedOf(details: Details): string | undefined {
  const { reason, message, meant } = details;
  const quoted = message ?? reason;
  // Of an unknown ID, the sentence says everything.
  return typeof quoted === 'string' && meant === undefined ? quoted : undefined;
}

function toldInGerman(step: Step, details: Details, formats: Formats): string | undefined {
  switch (step.kind) {
    case 'ARRIVED':
      return arrived(step, details, formats);
    case 'REFUSED':
      return refused(details);
    case 'DECODED':
      return decoded(step, details, formats);
    case 'STORED':
      return stored(step, details, formats);
    case 'RULE':
      return ruled(step, details);
    case 'ALARM':
      return alarmed(details, formats);
    case 'DELIVERY':
      return delivered(step, details, formats);
    default:
      return undefined;
  }
}

function arrived({ at, code }: Step, details: Details, formats: Formats): string | undefined {
  const { transport, bytes, timeoutSeconds, withoutUplink } = details;
  if (code === 'SILENT' && at !== null)
    return `Der letzte Uplink kam am ${formats.instant(at)}. Das ist länger her als ${formats.duration(Number(timeoutSeconds))}, nach denen das Gerät als still gilt.`;
  if (code === 'NEVER_HEARD')
    return 'Von diesem Gerät ist nie etwas angekommen, und in den letzten 7 Tagen wurde kein Uplink mit seiner Geräte-ID abgelehnt.';
  if (withoutUplink === true && at !== null)
    return `Messwerte wurden ohne Uplink gespeichert; der neueste ist vom ${formats.instant(at)}.`;
  if (transport === undefined) return notKept(details, formats);
  const size = typeof bytes === 'number' ? ` mit ${counted(bytes, 'Byte', 'Bytes')}` : '';
  return `Über ${String(transport)} ist ein Uplink${size} angekommen.`;
}

function notKept({ keptSeconds }: Details, { duration }: Formats): string | undefined {
  if (typeof keptSeconds !== 'number') return undefined;
  return `Der Payload von damals wird nicht mehr aufbewahrt (${duration(keptSeconds)}).`;
}

const refusals: Readonly<Record<RefusalReason, string>> = {
  UNKNOWN_DEVICE: 'Kein Gerät hat die gesendete ID',
  WRONG_SECRET: 'Das Secret ist falsch',
  OTHER_CONNECTOR: 'Das Gerät gehört zu einem anderen Konnektor',
  INVALID_BODY: 'Der Payload ist ungültig',
  TOO_LARGE: 'Der Payload ist zu groß',
  UNSUPPORTED_TYPE: 'Der Payload hat ein Format, das nicht unterstützt wird',
};

function refused({ reason, deviceId, meant }: Details): string {
  if (meant !== undefined)
    return `Der Uplink wurde abgelehnt: Kein Gerät hat die ID \`${String(deviceId)}\`. Meinten Sie \`${String(meant)}\`?`;
  return `Der Uplink wurde abgelehnt: ${refusals[reason as RefusalReason]}.`;
}

function decoded({ code, state }: Step, details: Details, formats: Formats): string | undefined {
  const { samples, duplicates, isScripted, line, topic, topics, dataKey, isNull, keys, isEvery } =
    details;
  const key = String(dataKey);
  switch (code) {
    case 'SCRIPT_ERROR':
      return typeof line === 'number'
        ? `Der Decoder ist in Zeile ${formats.count(line)} fehlgeschlagen.`
        : 'Der Decoder ist fehlgeschlagen.';
    case 'NO_SAMPLE':
      return topics === undefined
        ? 'Der Payload ergab keinen Messwert.'
        : `Der Uplink ergab keinen Messwert mit dem Topic ${String(topic)}, aber mit ${String(topics)}.`;
    case 'KEY_MISSING':
      if (isNull === true) return `Der Datenschlüssel ${key} ist im Messwert null.`;
      return `Dem Messwert fehlt der Datenschlüssel ${key}; er hat ${keys === '' ? 'keine Schlüssel' : String(keys)}.`;
    case 'KEY_INVALID':
      return isEvery === true
        ? `Alle Datenschlüssel wurden entfernt, zuerst ${key}.`
        : `Der Datenschlüssel ${key} wurde entfernt.`;
    default:
  }
  if (state !== 'OK') return notKept(details, formats);
  const many = counted(Number(samples), 'Messwert', 'Messwerte');
  const became = Number(samples) === 1 ? 'wurde' : 'wurden';
  const known = Number(duplicates);
  const again = known === 0 ? '' : ` und ${formats.count(known)}, die schon gespeichert waren`;
  return isScripted === true
    ? `Der Decoder hat ${many}${again} ausgegeben.`
    : `Aus dem Payload ${became} ${many}${again}.`;
}

function stored({ code, state, at }: Step, details: Details, formats: Formats): string | undefined {
  const { topic, dataFlow, keptDays } = details;
  if (dataFlow !== undefined)
    return `Der Datenfluss ${String(dataFlow)} speichert keine Messwerte mit dem Topic ${String(topic)}.`;
  if (code === 'EXPIRED' && at !== null)
    return `Der Messwert ist vom ${formats.instant(at)}, und Messwerte werden ${counted(Number(keptDays), 'Tag', 'Tage')} aufbewahrt.`;
  if (state === 'OK') return `Gespeichert mit dem Topic ${String(topic)}.`;
  if (state === 'UNKNOWN')
    return 'Der Messwert ist nicht mehr gespeichert: Er wurde gelöscht oder berichtigt.';
  return 'Es gab keinen Messwert zu speichern.';
}

function ruled({ code }: Step, { rule }: Details): string | undefined {
  if (typeof rule !== 'string' || code !== 'OK') return undefined;
  return `${rule}: ausgelöst.`;
}

const alarmStates: Readonly<Record<string, string>> = {
  OPEN: 'offen',
  ACKNOWLEDGED: 'bestätigt',
  CLEARED: 'beendet',
};

function alarmed({ alarm, until, alarmState }: Details, { instant }: Formats): string {
  if (typeof until === 'string')
    return `Der Alarm ${String(alarm)} ist bis ${instant(until)} stummgeschaltet: Er sendet keine Nachrichten.`;
  if (typeof alarmState === 'string')
    return `Der Alarm ${String(alarm)} ist ${alarmStates[alarmState] ?? alarmState}.`;
  return 'Die Regel hat für diesen Uplink nicht ausgelöst.';
}

function delivered({ code, state }: Step, details: Details, formats: Formats): string | undefined {
  const { output, dataFlow, tries, nextAt } = details;
  if (typeof output !== 'string') return undefined;
  const times = Number(tries);
  switch (code) {
    case 'NOT_ROUTED':
      return `Weder der Datenfluss ${String(dataFlow)} noch eine Regel, die ausgelöst hat, sendet diesen Uplink an ${output}.`;
    case 'DELIVERY_FAILED':
      return `${output}: nach ${counted(times, 'Versuch', 'Versuchen')} aufgegeben.`;
    case 'DELIVERY_WAITING':
      if (typeof nextAt !== 'string') return `${output}: Die Zustellung wird gerade erstellt.`;
      return times === 0
        ? `${output}: Die Zustellung wartet, bis sie an der Reihe ist.`
        : `${output}: ${formats.count(times)}-mal fehlgeschlagen, nächster Versuch am ${formats.instant(nextAt)}.`;
    default:
  }
  if (state === 'OK') return `${output}: zugestellt.`;
  return state === 'SKIPPED'
    ? `${output}: Es gab keinen Messwert zu senden.`
    : `${output}: Im Zustellprotokoll steht der Uplink nicht mehr.`;
}
