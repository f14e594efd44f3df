// Routes of organizations (contract 1).
import { organizations } from '../../contract/organizations.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  readOrganization,
  updateOrganization,
} from '../../inventory/workspaces/organizations.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route, route } from '../edge/route.ts';
import { createdOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';

export function organizationRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return [
    route(organizations.list, ({ query }, principal) =>
      listOrganizations(records, principal, query.minimal ?? false, pageRequestOf(query)),
    ),
    route(organizations.create, (input, principal) =>
      createdOnce(
        parts,
        { input, principal },
        (step) => createOrganization(step, principal, input.body),
        (id) => readOrganization(records, id),
      ),
    ),
    resourceRoute(organizations.read, byId(parts, 'organization'), ({ params }) =>
      readOrganization(records, params.id),
    ),
    resourceRoute(organizations.update, byId(parts, 'organization'), ({ params, body }) =>
      updateOrganization(records, params.id, body),
    ),
    resourceRoute(organizations.remove, byId(parts, 'organization'), ({ params }) =>
      deleteOrganization(records, params.id),
    ),
  ];
}
