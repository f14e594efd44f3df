// Sparkplug topics: `spBv1.0/<group>/<type>/<edge node>[/<device>]`, and the filters of edge nodes.
import { isLongName } from '../../model/ids.ts';

const namespace = 'spBv1.0';

/** What edge nodes publish. */
const nodeMessages = ['NBIRTH', 'NDATA', 'NDEATH'] as const;
const deviceMessages = ['DBIRTH', 'DDATA', 'DDEATH'] as const;
type MessageType = (typeof nodeMessages)[number] | (typeof deviceMessages)[number];

export interface EdgeNodeName {
  readonly group: string;
  readonly edge: string;
}

export interface SparkplugTopic extends EdgeNodeName {
  readonly type: MessageType;
  /** Undefined for the messages of the edge node itself. */
  readonly device: string | undefined;
}

export function isSparkplugTopic(topic: string): boolean {
  return topic.startsWith(`${namespace}/`);
}

/** Undefined for a topic on which edge nodes do not publish. */
export function sparkplugTopicOf(topic: string): SparkplugTopic | undefined {
  const levels = topic.split('/');
  if (levels.some(isLongName)) return undefined;
  const [space, group, type, edge, device, ...more] = levels;
  if (space !== namespace || !group || !edge || more.length > 0) return undefined;
  if (nodeMessages.some((one) => one === type) && device === undefined)
    return { group, edge, type: type as MessageType, device };
  if (deviceMessages.some((one) => one === type) && device)
    return { group, edge, type: type as MessageType, device };
  return undefined;
}

/** What an edge node subscribes to: its commands, or the state of a host. */
export type SparkplugFilter =
  | ({ readonly kind: 'NCMD' } & EdgeNodeName)
  /** Undefined for all devices of the edge node. */
  | ({ readonly kind: 'DCMD'; readonly device: string | undefined } & EdgeNodeName)
  /** Undefined for all hosts. */
  | { readonly kind: 'STATE'; readonly host: string | undefined };

/** Undefined for a filter that edge nodes have no use for, or that matches more than one of them. */
export function sparkplugFilterOf(filter: string): SparkplugFilter | undefined {
  const [space, ...levels] = filter.split('/');
  if (space !== namespace || levels.some(isLongName)) return undefined;
  if (levels[0] === 'STATE') {
    const [, host = ''] = levels;
    const isWild = host === '#' || host === '+';
    if (levels.length !== 2 || (!isWild && !isName(host))) return undefined;
    return { kind: 'STATE', host: isWild ? undefined : host };
  }
  const [group = '', kind, edge = '', below, ...more] = levels;
  if (!isName(group) || !isName(edge) || more.length > 0) return undefined;
  if (kind === 'NCMD' && (below === undefined || below === '#')) return { kind, group, edge };
  if (kind !== 'DCMD' || below === undefined) return undefined;
  if (below === '#' || below === '+') return { kind, group, edge, device: undefined };
  return isName(below) ? { kind, group, edge, device: below } : undefined;
}

function isName(level: string): boolean {
  return level !== '' && !/[+#\0]/.test(level);
}

/** Whether a command to the edge node, or to its device, is what the filter is for. */
export function isCommandFilter(filter: SparkplugFilter, device: string | undefined): boolean {
  if (device === undefined) return filter.kind === 'NCMD';
  return filter.kind === 'DCMD' && (filter.device === undefined || filter.device === device);
}

export function commandTopic({ group, edge }: EdgeNodeName, device: string | undefined): string {
  if (device === undefined) return `${namespace}/${group}/NCMD/${edge}`;
  return `${namespace}/${group}/DCMD/${edge}/${device}`;
}

export function stateTopic(host: string): string {
  return `${namespace}/STATE/${host}`;
}

// Sparkplug client: one edge node on its connection, as the intake of its messages knows it.

/** A client of a connector for Sparkplug, from the first topic that names its edge node. */
export interface SparkplugClient {
  readonly connectorId: string;
  readonly name: EdgeNodeName;
  /** Its subscriptions, by what it wrote. */
  readonly filters: Map<string, SparkplugFilter>;
  /** Fields of a log line about it. */
  readonly about: () => Readonly<Record<string, string>>;
  /** With QoS 0, as the specification demands. Resolves with whether it was sent. */
  readonly send: (topic: string, payload: Buffer, retain: boolean) => Promise<boolean>;
  /** Ends the connection. */
  readonly end: (because: string) => void;
}

/** What clients send and subscribe to. */
export interface SparkplugIntake {
  /** Resolves when the message is durable. */
  readonly take: (client: SparkplugClient, topic: SparkplugTopic, bytes: Buffer) => Promise<void>;
  readonly subscribed: (client: SparkplugClient, filter: SparkplugFilter) => void;
  /** Its connection has ended. */
  readonly left: (client: SparkplugClient) => void;
}
