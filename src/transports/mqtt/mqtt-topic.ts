// MQTT topics: `/up/<secret>/id/<deviceId>[/<sub>...]` and `/down/...` (contract 17, 18).
import { isLongName } from '../../model/ids.ts';

/**
 * The topic of a device's messages: `key` is the uplink secret, or `device` for clients with a
 * token.
 */
interface DeviceTopic {
  readonly key: string;
  /** Physical device id. */
  readonly deviceId: string;
}

export interface UpTopic extends DeviceTopic {
  /** Levels behind the device id, without the empty ones. */
  readonly levels: readonly string[];
}

/** What a client may subscribe to: topics of one device. */
export interface TopicFilter extends DeviceTopic {
  readonly direction: 'up' | 'down';
  /** What the client wrote before `up` or `down`: its messages come in the same form. */
  readonly slash: '/' | '';
  /** Levels behind the device id; may hold wildcards. */
  readonly levels: readonly string[];
}

export const tokenTopicKey = 'device';

/** Undefined when the topic is none that devices publish on. The slash in front may be missing. */
export function upTopicOf(topic: string): UpTopic | undefined {
  const parsed = parse(topic);
  if (parsed?.direction !== 'up' || /[+#\0]/.test(topic)) return undefined;
  const { key, deviceId, levels } = parsed;
  return { key, deviceId, levels: levels.filter((level) => level !== '') };
}

/** Undefined when the filter could match topics of more than one device, or is none of devices. */
export function topicFilterOf(filter: string): TopicFilter | undefined {
  const parsed = isLongName(filter) ? undefined : parse(filter);
  if (parsed === undefined || /[+#\0]/.test(parsed.key + parsed.deviceId)) return undefined;
  const wild = parsed.levels.some(
    (level, i) =>
      (level.includes('#') && (level !== '#' || i < parsed.levels.length - 1)) ||
      (level.includes('+') && level !== '+'),
  );
  if (wild) return undefined;
  return parsed;
}

function parse(text: string): TopicFilter | undefined {
  const slash = text.startsWith('/') ? '/' : '';
  const [direction, key, id, deviceId, ...levels] = text.slice(slash.length).split('/');
  if ((direction !== 'up' && direction !== 'down') || id !== 'id' || !key || !deviceId)
    return undefined;
  if (isLongName(key) || isLongName(deviceId)) return undefined;
  return { direction, slash, key, deviceId, levels };
}

/**
 * Whether a filter's levels match a topic's (MQTT 3.1.1, 4.7): `+` is one level, `#` the parent and
 * everything below.
 */
export function levelsMatch(filter: readonly string[], topic: readonly string[]): boolean {
  for (const [i, level] of filter.entries()) {
    if (level === '#') return true;
    if (i >= topic.length || (level !== '+' && level !== topic[i])) return false;
  }
  return filter.length === topic.length;
}

/**
 * The levels of a topic that the platform sends on; a leading slash is skipped. Undefined for one
 * that cannot be sent on.
 */
export function downLevelsOf(topic: string, levelsMax: number): readonly string[] | undefined {
  const levels = topic.replace(/^\/+/, '').split('/');
  if (/[+#\0]/.test(topic) || levels.length > levelsMax || topic.length > 1_024) return undefined;
  return levels;
}

/**
 * The whole topic of a message that a filter matched, in the form in which the client subscribed.
 */
export function topicText(filter: TopicFilter, levels: readonly string[]): string {
  return [`${filter.slash}${filter.direction}`, filter.key, 'id', filter.deviceId, ...levels].join(
    '/',
  );
}
