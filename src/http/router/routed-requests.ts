// Routed requests: those about one device, which its owner answers, and how the device is found.
import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'fast-querystring';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import { createRouteTree } from '../edge/fast-path/route-tree.ts';
import type { NodeAddress } from '../../model/node-messages.ts';
import { bodyBytesMaxDefault, type Route } from '../edge/route.ts';

/**
 * The service id of the device that a request is about, or the place of a node. Undefined when it is
 * about none, or about one that is unknown: the node that received the request answers it.
 */
export type FindDevice = (
  request: IncomingMessage,
) => Promise<string | undefined> | string | undefined;

/** The node that has the file of an export, if it is another one that is there. */
type FindExportNode = (exportId: string) => Promise<NodeAddress | undefined>;

const nodePlace = 'node/';

/** What a request is about that a certain node answers; the lease of the request, too. */
export const placeOfNode = (nodeId: string): string => nodePlace + nodeId;

/** The id of the node, unless the place is a device. */
export function nodeOfPlace(place: string): string | undefined {
  return place.startsWith(nodePlace) ? place.slice(nodePlace.length) : undefined;
}

const ofDevice = /^\/v3\/devices\/:(?<name>id|deviceId)(?:\/|$)/;
const capturePath = '/v3/capture';
/** By the routes that need the file of an export. */
const exportFiles = new Set(['GET /v3/exports/:id/content', 'DELETE /v3/exports/:id']);

type KnownRoute = Pick<Route, 'method' | 'path' | 'bodyBytesMax'>;
type RoutedRoute = KnownRoute & { readonly parameter: string | undefined };

/**
 * Requests below `/v3/devices/:id`, captures, and those for the file of an export. Records of devices are served by the owner too,
 * because its memory of the device changes with them.
 */
export function deviceFinder(
  routes: readonly KnownRoute[],
  findSender: CaptureSenders['ofCapture'],
  findExportNode: FindExportNode,
): FindDevice {
  const find = createRouteTree<RoutedRoute>(
    routes.map(({ method, path, bodyBytesMax }) => ({
      method,
      path,
      ...(bodyBytesMax !== undefined && { bodyBytesMax }),
      parameter: ofDevice.exec(path)?.groups?.['name'],
    })),
  );
  return (request) => {
    const { method = '', url = '' } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const found = find(method, path);
    if (found === undefined || isTooLong(request, found.route)) return undefined;
    if (path === capturePath) return senderOf(request, query, findSender);
    const { parameter, path: routePath } = found.route;
    if (exportFiles.has(`${found.route.method} ${routePath}`))
      return placeOfExport(found.params, findExportNode);
    return parameter === undefined ? undefined : found.params[parameter];
  };
}

async function placeOfExport(
  { id = '' }: Readonly<Record<string, string>>,
  findNode: FindExportNode,
): Promise<string | undefined> {
  const node = await findNode(id);
  return node && placeOfNode(node.id);
}

/** Every node refuses it alike, and its sender may be gone before another node has. */
function isTooLong(
  { headers }: IncomingMessage,
  { bodyBytesMax = bodyBytesMaxDefault }: KnownRoute,
): boolean {
  return Number(headers['content-length'] ?? 0) > bodyBytesMax;
}

/** Rejects for an unknown sender. */
async function senderOf(
  { headers }: IncomingMessage,
  query: string,
  findSender: CaptureSenders['ofCapture'],
): Promise<string> {
  const found = await findSender(parseQuery(query), headers);
  const sender = await found.current();
  if (sender.kind === 'networkServer') throw new Error('The body names the devices');
  return sender.route.device.id;
}
