// Routes of custom logic blocks (contract 14).
import { customLogic } from '../../contract/custom-logic.ts';
import {
  createCustomLogic,
  deleteCustomLogic,
  listCustomLogic,
  readCustomLogic,
  updateCustomLogic,
} from '../../inventory/rules/custom-logic.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function customLogicRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, customLogic, {
    kind: 'customLogic',
    createIn: byOrganization,
    list: ({ query }, principal) =>
      listCustomLogic(records, principal, query, pageRequestOf(query)),
    create: (step, { body }, principal) => createCustomLogic(step, principal, body),
    read: (id, _input, principal) => readCustomLogic(records, principal, id),
    update: (id, { body }, principal) => updateCustomLogic(records, principal, id, body),
    remove: (id) => deleteCustomLogic(records, id),
  });
}
