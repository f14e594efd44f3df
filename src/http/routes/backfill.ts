// Backfill of a device: one sample, or up to 100,000 of them read while they come in (interface 4.3, contract 28 and 35).
import Type from 'typebox';
import {
  backfillBody,
  backfillReceipt,
  bulkBackfillBody,
  bulkBackfillReceipt,
} from '../../contract/backfill.ts';
import { deviceParams } from '../../contract/queries.ts';
import { type Backfill, type BackfillReceipt, backfillLimits } from '../../flows/backfill.ts';
import type { Attempt, Once } from '../../flows/idempotency.ts';
import type { OnceStreamed } from '../../flows/streamed-idempotency.ts';
import { jsonArrayGroups, jsonArrayLimits } from '../../ingest/http/json-array.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { Principal } from '../../model/principal.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import { guardedRoute, type Route, type RouteInput } from '../edge/route.ts';
import type { BodyStream } from '../edge/streamed-body.ts';
import type { DeviceAccess } from './device-access.ts';

export interface BackfillParts extends Pick<DeviceAccess, 'placeOfDevice'> {
  readonly backfill: (input: Backfill) => Promise<BackfillReceipt>;
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
  readonly now: () => EpochMs;
}

const tag = 'Data';

export function backfillRoutes(parts: BackfillParts): Route[] {
  return [singleRoute(parts), bulkRoute(parts)];
}

function access({ placeOfDevice }: BackfillParts) {
  const byParams = ({ deviceId }: { readonly deviceId: string }) => placeOfDevice(deviceId);
  return { scope: 'asset', verb: 'update', place: { byParams } } as const;
}

function singleRoute(parts: BackfillParts): Route {
  return guardedRoute({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill',
    summary: 'Add one sample to a device',
    tag,
    access: access(parts),
    params: deviceParams,
    body: backfillBody,
    bodyBytesMax: jsonArrayLimits.elementBytesMax,
    status: 201,
    response: backfillReceipt,
    handle: async (input, principal) => {
      const { deviceId } = input.params;
      const work = async (receivedAt: EpochMs, attempt?: Attempt): Promise<BackfillReceipt> =>
        parts.backfill({ deviceId, groups: [[input.body]], receivedAt, attempt });
      const call = callOf(input, principal);
      const receipt =
        call === undefined
          ? await work(parts.now())
          : ((
              await parts.once.stored({ ...call, body: input.body }, async (attempt) =>
                answerOf(await work(attempt.firstSeenAt, attempt)),
              )
            ).body as unknown as BackfillReceipt);
      const message = receipt.duplicates > 0 ? 'sample stored already' : 'sample stored';
      return { message, ...receipt };
    },
  });
}

function bulkRoute(parts: BackfillParts): Route {
  let underWay = 0;
  return guardedRoute({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill/bulk',
    summary: 'Add many samples to a device; the body is read while it comes in',
    tag,
    access: access(parts),
    params: deviceParams,
    body: Type.Unsafe<BodyStream>(bulkBackfillBody),
    streamedBody: true,
    bodyBytesMax: backfillLimits.bytesMax,
    status: 201,
    response: bulkBackfillReceipt,
    handle: async (input, principal) => {
      const { deviceId } = input.params;
      const work = (
        body: BodyStream,
        receivedAt: EpochMs,
        attempt?: Attempt,
      ): Promise<BackfillReceipt> =>
        parts.backfill({ deviceId, groups: jsonArrayGroups(body), receivedAt, attempt });
      if (underWay >= backfillLimits.requestsMax) throw problem('intakeFull');
      underWay++;
      try {
        const call = callOf(input, principal);
        if (call === undefined) return await work(input.body, parts.now());
        const answer = await parts.onceStreamed(call, input.body, async (body, attempt) =>
          answerOf(await work(body, attempt.firstSeenAt, attempt)),
        );
        return answer.body as unknown as BackfillReceipt;
      } finally {
        underWay--;
      }
    },
  });
}

/** Undefined without an Idempotency-Key. */
function callOf({ headers, path }: RouteInput<unknown, unknown, unknown>, principal: Principal) {
  const key = idempotencyKeyOf(headers);
  return key !== undefined ? { credential: principal.id, route: `POST ${path}`, key } : undefined;
}

function answerOf(receipt: BackfillReceipt): { readonly status: number; readonly body: Json } {
  return { status: 201, body: receipt as unknown as Json };
}
