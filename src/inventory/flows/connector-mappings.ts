// Connector mappings: what a device connector makes of points and of edge nodes, checked and with its defaults.
import type { DeviceConnector } from '../../model/connector.ts';
import {
  type LineProtocolMapping,
  lineProtocolDefaults,
} from '../../model/line-protocol-mapping.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { type SparkplugMapping, sparkplugDefaults } from '../../model/sparkplug-mapping.ts';
import { isTopic } from '../../model/topic.ts';

type DraftOf<T> = { readonly [K in keyof T]?: T[K] | null | undefined };
export type LineProtocolDraft = DraftOf<LineProtocolMapping>;
export type SparkplugDraft = DraftOf<SparkplugMapping>;

type Receiver = Pick<DeviceConnector, 'connectivity' | 'decodingType' | 'workspaceId' | 'authType'>;

function refuse(member: string, reason: string): never {
  throw problem('invalidRequest', { reason: `body ${member}: ${reason}` });
}

/** Throws 403 when the caller cannot create the devices that senders would create. */
function checkCreation(
  { createDevices }: LineProtocolDraft | SparkplugDraft,
  { workspaceId }: Receiver,
  principal: Principal,
): void {
  if (createDevices && !holds(principal, 'asset', 'create', workspaceId))
    throw problem('permissionDenied');
}

/**
 * What is absent of the mapping has its default. Throws 400 for a connector that cannot receive
 * points, 403 when the caller cannot create the devices that points would create.
 */
export function lineProtocolFrom(
  sent: LineProtocolDraft | null,
  receiver: Receiver,
  principal: Principal,
): LineProtocolMapping | null {
  if (sent === null) return null;
  if (receiver.connectivity !== 'HTTP' || receiver.decodingType !== 'NONE')
    refuse('lineProtocol', 'only valid for HTTP connectors without an integration');
  checkCreation(sent, receiver, principal);
  return {
    device: sent.device ?? lineProtocolDefaults.device,
    topic: sent.topic ?? lineProtocolDefaults.topic,
    createDevices: sent.createDevices ?? null,
  };
}

/**
 * As `lineProtocolFrom`, for edge nodes. Throws 400 also for templates that would make one device
 * of several.
 */
export function sparkplugFrom(
  sent: SparkplugDraft | null,
  receiver: Receiver,
  principal: Principal,
): SparkplugMapping | null {
  if (sent === null) return null;
  if (receiver.connectivity !== 'MQTT' || receiver.authType !== 'BASIC')
    refuse('sparkplug', 'only valid for MQTT connectors that use an uplink secret');
  checkCreation(sent, receiver, principal);
  const node = sent.node ?? sparkplugDefaults.node;
  const device = sent.device ?? sparkplugDefaults.device;
  const topic = sent.topic ?? sparkplugDefaults.topic;
  checkTemplate('sparkplug.node', node, { needed: 'edge', known: ['group', 'edge'] });
  const names = ['group', 'edge', 'device'];
  checkTemplate('sparkplug.device', device, { needed: 'device', known: names });
  if (!isTopic(topic)) refuse('sparkplug.topic', `${topic} is not a valid topic`);
  const hostId = sent.hostId ?? sparkplugDefaults.hostId;
  return { node, device, topic, hostId, createDevices: sent.createDevices ?? null };
}

function checkTemplate(
  member: string,
  template: string,
  { needed, known }: { readonly needed: string; readonly known: readonly string[] },
): void {
  if (!template.includes(`{${needed}}`)) refuse(member, `it must contain {${needed}}`);
  for (const [, name = ''] of template.matchAll(/\{([^{}]*)\}/g))
    if (!known.includes(name))
      refuse(member, `unknown placeholder {${name}}; valid placeholders: {${known.join('}, {')}}`);
}
