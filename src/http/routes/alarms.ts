// Routes of alarms: lists, and what people do to them; of mutes and of on-call orders (contract 37, 39.4).
import type { Static } from 'typebox';
import { type alarmBulkBody, alarms, mutes, onCalls } from '../../contract/alarms.ts';
import type { AlarmAction, AlarmDesk } from '../../rules/alarms/alarm-actions.ts';
import { type AlarmQuery, Alarms } from '../../inventory/alarms/alarm-lists.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Author, Principal } from '../../model/principal.ts';
import { restorePlus } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import { Mutes } from '../../inventory/alarms/mutes.ts';
import { OnCallOrders } from '../../inventory/alarms/on-call.ts';

/** `settled` resolves when the alarms of acknowledged samples can be read, or soon. */
export function alarmRoutes(
  common: RecordRoutes,
  desk: AlarmDesk,
  settled: (organizationId: string) => Promise<void>,
): Route[] {
  const { records } = common;
  const service = new Alarms(records);
  const place = common.byId('alarm');
  const acted = async (id: string, action: AlarmAction, principal: Principal) => {
    await desk.act(id, action, actorOf(principal));
    return service.read(id);
  };
  return [
    route(alarms.list, async ({ query }, principal) => {
      await settled(principal.organizationId);
      return service.list(principal, queryOf(query), pageRequestOf(query));
    }),
    resourceRoute(alarms.read, place, async ({ params }, principal) => {
      await settled(principal.organizationId);
      return service.read(params.id);
    }),
    route(alarms.bulk, ({ body }, principal) => actOnMany(records, desk, body, principal)),
    resourceRoute(alarms.acknowledge, place, ({ params }, principal) =>
      acted(params.id, { action: 'ACKNOWLEDGE' }, principal),
    ),
    resourceRoute(alarms.clear, place, ({ params, body }, principal) =>
      acted(params.id, { action: 'CLEAR', reason: body?.reason ?? null }, principal),
    ),
    resourceRoute(alarms.mute, place, (input, principal) => {
      const { id } = input.params;
      return common.createdOnce(
        input,
        principal,
        async (step) => {
          await desk.mute(step, id, input.body);
          return new Alarms(step).read(id);
        },
        (known) => service.read(known),
      );
    }),
    resourceRoute(alarms.comment, place, (input, principal) => {
      const { id } = input.params;
      const comment = { id, text: input.body.text, by: actorOf(principal) };
      return common.createdOnce(
        input,
        principal,
        async (step) => {
          await desk.comment(step, comment);
          return new Alarms(step).read(id);
        },
        (known) => service.read(known),
      );
    }),
    ...muteRoutes(common),
    ...onCallRoutes(common),
  ];
}

function actorOf({ kind, id, name }: Principal): Author {
  return { type: kind, id, name };
}

function queryOf(sent: {
  readonly organizationId?: string | null | undefined;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
  readonly openAt?: string | undefined;
  readonly search?: string | null | undefined;
  readonly placeId?: string | null | undefined;
}): AlarmQuery {
  const organizationId = sent.organizationId ?? undefined;
  return {
    ...listScopeOf({ ...sent, organizationId }),
    states: listOf(sent, 'state'),
    severities: listOf(sent, 'severity'),
    deviceIds: listOf(sent, 'deviceId'),
    ruleIds: listOf(sent, 'ruleId'),
    placeId: sent.placeId ?? undefined,
    from: sent.from ?? undefined,
    to: sent.to ?? undefined,
    openAt: sent.openAt === undefined ? undefined : restorePlus(sent.openAt),
    search: sent.search ?? undefined,
  };
}

async function actOnMany(
  records: Inventory,
  desk: AlarmDesk,
  { action, ids, filter, reason }: Static<typeof alarmBulkBody>,
  principal: Principal,
) {
  const act: AlarmAction =
    action === 'CLEAR' ? { action, reason: reason ?? null } : { action: 'ACKNOWLEDGE' };
  if (Boolean(ids) === Boolean(filter))
    throw problem('invalidRequest', { reason: 'body: set exactly one of ids and filter' });
  if (ids) {
    const { allowed, unknown } = await new Alarms(records).reachableIds(principal, ids);
    const { changed, refused } = await desk.actOnMany(allowed, act, actorOf(principal));
    return { changed, refused: [...unknown.map(unknownAlarm), ...refused] };
  }
  const wanted = await new Alarms(records).changeableIds(principal, queryOf(filter ?? {}));
  return desk.actOnMany(wanted, act, actorOf(principal));
}

/** What is out of reach does not exist for the caller. */
function unknownAlarm(id: string) {
  const { message: reason, code: errorCode } = problem('notFound', { what: 'alarm', id });
  return { id, reason, errorCode };
}

// Routes of mutes (contract 39.4).

function muteRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Mutes(records);
  return common.crud(mutes, {
    kind: 'mute',
    list: ({ query }, principal) =>
      service.list(principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    create: (step, { body }) => new Mutes(step).create(body),
    read: (id) => service.read(id),
    update: (id, { body }) => service.update(id, body),
    remove: (id) => service.remove(id),
  });
}

// Routes of on-call orders (contract 39.4).

function onCallRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new OnCallOrders(records);
  return [
    ...common.crud(onCalls, {
      kind: 'onCall',
      list: ({ query }, principal) =>
        service.list(principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
      create: (step, { body }) => new OnCallOrders(step).create(body),
      read: (id) => service.read(id),
      update: (id, { body }) => service.update(id, body),
      remove: (id) => service.remove(id),
    }),
    resourceRoute(onCalls.now, common.byId('onCall'), ({ params, query }) =>
      service.now(params.id, query.at),
    ),
  ];
}
