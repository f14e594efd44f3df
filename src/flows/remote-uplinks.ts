// Remote uplinks: uplinks of every transport reach the owner of their device as values, and its answer comes back.
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { Json } from '../model/json.ts';
import { Problem, type ProblemName } from '../model/problem.ts';
import type { Uplink } from '../model/uplink.ts';
import { uplinkOf } from './capture.ts';

/** The call between nodes. */
export const uplinkCall = 'uplink';

/** What the owner cannot read from the records. */
type UplinkMessage = Parameters<typeof uplinkOf>[0] &
  Pick<Uplink, 'correlationId' | 'receivedAt'> & {
    /** Service device id. */
    readonly deviceId: string;
  };

/** The outcome of an uplink; a refusal is a problem of the catalog. */
type UplinkOutcome =
  | { readonly stored: true }
  | {
      readonly problem: ProblemName;
      readonly details: Problem['details'];
      readonly message: string;
    };

/** Sends the uplink. Throws the Problem of the owner; `notHeld` when it is not the owner. */
export async function sendUplink(
  { correlationId, receivedAt, device, ...uplink }: Uplink,
  call: (name: string, request: Json) => Promise<Json>,
): Promise<'stored' | 'notHeld'> {
  const { topic, timestamp, body, bodyBytes, metrics, duplicateKey } = uplink;
  const sent: UplinkMessage = {
    ...{ correlationId, receivedAt, deviceId: device.id, topic, timestamp, body, bodyBytes },
    ...(metrics !== undefined && { metrics }),
    ...(duplicateKey !== undefined && { duplicateKey }),
  };
  const outcome = (await call(uplinkCall, sent)) as unknown as UplinkOutcome;
  if ('stored' in outcome) return 'stored';
  if (outcome.problem === 'deviceMoved') return 'notHeld';
  throw new Problem(outcome.problem, outcome.details, outcome.message);
}

export interface UplinkReceiverParts {
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Takes an uplink of an own device. Throws Problem `deviceMoved` for another one. */
  readonly handleUplink: (uplink: Uplink) => Promise<unknown>;
}

/** Answers the call of another node. */
export function uplinkReceiver({ findRoute, handleUplink }: UplinkReceiverParts) {
  return async (request: Json): Promise<Json> => {
    const { deviceId, correlationId, receivedAt, ...payload } = request as unknown as UplinkMessage;
    try {
      const route = await findRoute(deviceId);
      await handleUplink(uplinkOf(payload, route, correlationId, receivedAt));
      return { stored: true };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { problem, details, message } = error;
      return { problem, details, message } as unknown as Json;
    }
  };
}
