// Routed requests: those about one device, which its owner answers, and how the device is found.
import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'fast-querystring';
import type { CaptureSenders } from '../../flows/capture-senders.ts';
import { createRouteTree } from '../edge/direct/route-tree.ts';
import type { Route } from '../edge/route.ts';

/**
 * The service id of the device that a request is about. Undefined when it is about none, or about
 * one that is unknown: the node that received the request answers it.
 */
export type FindDevice = (request: IncomingMessage) => Promise<string> | string | undefined;

const ofDevice = /^\/v3\/devices\/:(?<name>id|deviceId)(?:\/|$)/;
const capturePath = '/v3/capture';

type RoutedRoute = Pick<Route, 'method' | 'path'> & { readonly parameter: string | undefined };

/**
 * Requests below `/v3/devices/:id` and captures. Records of devices are served by the owner too,
 * because its memory of the device changes with them.
 */
export function deviceFinder(
  routes: readonly Pick<Route, 'method' | 'path'>[],
  findSender: CaptureSenders['ofCapture'],
): FindDevice {
  const find = createRouteTree<RoutedRoute>(
    routes.map(({ method, path }) => ({
      ...{ method, path },
      parameter: ofDevice.exec(path)?.groups?.['name'],
    })),
  );
  return (request) => {
    const { method = '', url = '' } = request;
    const [path = '', query = ''] = url.split('?', 2);
    if (path === capturePath) return senderOf(request, query, findSender);
    const found = find(method, path);
    const { parameter } = found?.route ?? {};
    return parameter === undefined ? undefined : found?.params[parameter];
  };
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
