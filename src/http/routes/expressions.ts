// Expressions of requests: their check, and queries that compute them (contract 38.1).
import { expressions } from '../../contract/expressions.ts';
import {
  type Expression,
  ExpressionError,
  keysOf,
  parseExpression,
} from '../../query/expressions/parse.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';
import { ExpressionReads, offsetsOf, readExpression } from '../../query/expression-reads.ts';
import { DeviceQueries } from '../../query/device-queries.ts';
import { type Route, route } from '../edge/route.ts';
import type { DeviceAccess, Queries } from './device-access.ts';

/** Other devices that the expressions of one request read. */
const otherDevicesMax = 10;

export function expressionRoutes(): Route[] {
  return [
    route(expressions.check, ({ body }) => {
      try {
        const expression = parseExpression(body.expression, true);
        const { type } = expression;
        return {
          valid: true,
          type: type === 'any' ? null : type,
          keys: keysOf(expression),
          error: null,
        };
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const { message, position } = error;
        return { valid: false, type: null, keys: [], error: { message, position } };
      }
    }),
  ];
}

interface AskedValues {
  readonly dataKey?: string;
  readonly expression?: string | null;
}

/**
 * The body with the data key that it names, or that stands for its expression, and queries that
 * compute it. Throws Problem 400 `invalidExpression`, and 403 or 404 for another device that the
 * caller may not read.
 */
export async function askedValues<B extends AskedValues & { readonly timeZone?: string | null }>(
  body: B,
  devices: readonly QueriedDevice[],
  principal: Principal,
  parts: Queries,
): Promise<{ readonly body: B & { readonly dataKey: string }; readonly queries: DeviceQueries }> {
  const { expression, dataKey } = body;
  const wanted = askedKey(body, 'body');
  const { store, calendars } = parts;
  if (expression === undefined || expression === null || dataKey !== undefined)
    return { body: { ...body, dataKey: wanted }, queries: new DeviceQueries(store, calendars) };
  const texts = new Map([[wanted, readExpression(expression, 'expression')]]);
  const reads = await expressionReads(texts, body.timeZone, devices, principal, parts);
  return { body: { ...body, dataKey: wanted }, queries: new DeviceQueries(reads, calendars) };
}

/** The data key or the text of the expression; exactly one must be there. */
export function askedKey({ dataKey, expression }: AskedValues, where: string): string {
  const given = [dataKey, expression].filter((text) => text !== undefined && text !== null);
  const [key] = given;
  if (given.length === 1 && key !== undefined && key !== null) return key;
  throw problem('invalidRequest', {
    reason: `${where}: set exactly one of dataKey and expression`,
  });
}

/** A store that computes the expressions, by the data keys that stand for them. */
export async function expressionReads(
  texts: ReadonlyMap<string, Expression>,
  timeZone: string | null | undefined,
  devices: readonly QueriedDevice[],
  principal: Principal,
  parts: Queries,
): Promise<ExpressionReads> {
  const wanted = [...texts.values()];
  await permitOthers(wanted, devices, principal, parts);
  const zones = new Map<string, ReturnType<typeof offsetsOf>>();
  const fields = new Map<string, JsonObject>();
  const usesFields = wanted.some(({ inputs }) => inputs.some(({ kind }) => kind === 'field'));
  const isLocal = wanted.some((expression) => expression.isLocal);
  for (const device of devices) {
    if (usesFields) fields.set(device.id, await parts.fieldsOfDevice(device.id));
    if (!isLocal || zones.has(device.workspaceId)) continue;
    const zone = await parts.calendars.zoneOf(timeZone, device.workspaceId);
    zones.set(device.workspaceId, offsetsOf(zone));
  }
  const workspaces = new Map(devices.map(({ id, workspaceId }) => [id, workspaceId]));
  const utc = () => 0;
  return new ExpressionReads(parts.store, texts, (deviceId) => ({
    offsetAt: zones.get(workspaces.get(deviceId) ?? '') ?? utc,
    fields: fields.get(deviceId) ?? {},
  }));
}

/** The other devices are of the workspace, and the caller may read each of them. */
async function permitOthers(
  wanted: readonly Expression[],
  devices: readonly QueriedDevice[],
  principal: Principal,
  parts: DeviceAccess,
): Promise<void> {
  const permitted = new Set<string>();
  for (const { inputs, positions } of wanted)
    for (const [i, input] of inputs.entries()) {
      const deviceId = 'source' in input ? input.source.deviceId : null;
      if (deviceId === null || permitted.has(deviceId)) continue;
      const position = positions[i] ?? 0;
      const refuse = (reason: string) =>
        problem('invalidExpression', { where: 'expression', reason, position });
      if (permitted.size === otherDevicesMax)
        throw refuse(`a request reads at most ${otherDevicesMax} other devices`);
      const place = await parts.placeOfDevice(deviceId);
      // The dashboard whose tile has the expression shows what the expression reads.
      if (principal.share === undefined) parts.authorize(principal, 'asset', 'read', place);
      if (devices.some(({ workspaceId }) => workspaceId !== place.workspaceId))
        throw refuse(`device ${deviceId} is in another workspace`);
      permitted.add(deviceId);
    }
}
