// Routes of workspaces, and of those that a credential may use (contract 3).
import { workspaces } from '../../contract/workspaces.ts';
import { deleteWorkspaceOrDemo } from '../../inventory/workspaces/demo-workspace.ts';
import { ownOrganization } from '../../inventory/list-scope.ts';
import {
  createWorkspace,
  listWorkspaces,
  readWorkspace,
  updateWorkspace,
  workspaceAccess,
} from '../../inventory/workspaces/workspaces.ts';
import { type Scope, scopes, type Verb, verbs } from '../../model/permission.ts';
import { problem } from '../../model/problem.ts';
import { otherHolidayRegions } from '../../query/public-holidays.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { type Route, route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export interface WorkspaceParts extends RecordParts {
  /** Deletes the samples of a deleted device. */
  readonly dropSamples: (deviceId: string) => Promise<void>;
}

export function workspaceRoutes(parts: WorkspaceParts): Route[] {
  const { records } = parts;
  return [
    ...recordRoutes(parts, workspaces, {
      kind: 'workspace',
      createIn: byOrganization,
      list: ({ query }, principal) =>
        listWorkspaces(records, principal, query, pageRequestOf(query)),
      checkCreate: ({ body }) => checkHolidayRegion(body.settings),
      create: (step, { body }) => createWorkspace(step, body),
      read: (id) => readWorkspace(records, id),
      update: async (id, { body }) => {
        await checkHolidayRegion(body.settings);
        return updateWorkspace(records, id, body);
      },
      async remove(id, _input, principal) {
        const deviceIds = await deleteWorkspaceOrDemo(records, principal, id);
        for (const deviceId of deviceIds) await parts.dropSamples(deviceId);
      },
    }),
    route(workspaces.access, ({ query }, principal) => {
      ownOrganization(principal, query.organizationId);
      return workspaceAccess(principal, scopeNamed(query.scope), verbNamed(query.verb));
    }),
  ];
}

/** Throws 400 for a region without public holidays, naming those that have some. */
export async function checkHolidayRegion(
  settings: { readonly holidayRegion?: string | null | undefined } | null | undefined,
): Promise<void> {
  const region = settings?.holidayRegion ?? undefined;
  const others = region === undefined ? undefined : await otherHolidayRegions(region);
  if (others === undefined) return;
  const reason = `body settings.holidayRegion: unknown region ${region}; valid regions: ${others.join(', ')}`;
  throw problem('invalidRequest', { reason });
}

/** `DEVICE_TYPE`, `ORGANIZATION_MEMBER` or the names as permissions spell them. */
function scopeNamed(name: string): Scope {
  const plain = (text: string) => text.replace(/[._]/g, '').toLowerCase();
  const scope = scopes.find((known) => plain(known) === plain(name));
  if (scope === undefined)
    throw problem('invalidRequest', { reason: `query scope: unknown scope ${name}` });
  return scope;
}

function verbNamed(name: string): Verb {
  const verb = verbs.find((known) => known === name.toLowerCase());
  if (verb === undefined)
    throw problem('invalidRequest', { reason: `query verb: unknown verb ${name}` });
  return verb;
}
