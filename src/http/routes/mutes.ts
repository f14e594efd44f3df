// Routes of mutes (contract 39.4).
import { mutes } from '../../contract/mutes.ts';
import {
  createMute,
  deleteMute,
  listMutes,
  readMute,
  updateMute,
} from '../../inventory/alarms/mutes.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { type RecordParts, recordRoutes } from './record-routes.ts';

export function muteRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, mutes, {
    kind: 'mute',
    list: ({ query }, principal) =>
      listMutes(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    create: (step, { body }) => createMute(step, body),
    read: (id) => readMute(records, id),
    update: (id, { body }) => updateMute(records, id, body),
    remove: (id) => deleteMute(records, id),
  });
}
