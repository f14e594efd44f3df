// Routes of workspaces, and which of them a credential reaches (contract 3).
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  workspaceAccessQuery,
  workspaceAccessSchema,
  workspaceDraft,
  workspaceListQuery,
  workspaceSchema,
  workspaceUpdate,
} from '../../contract/workspace.ts';
import { ownOrganization } from '../../inventory/list-scope.ts';
import {
  createWorkspace,
  deleteWorkspace,
  listWorkspaces,
  readWorkspace,
  updateWorkspace,
  workspaceAccess,
} from '../../inventory/workspaces/workspaces.ts';
import { type Scope, scopes, type Verb, verbs } from '../../model/permission.ts';
import { problem } from '../../model/problem.ts';
import { otherHolidayRegions } from '../../query/public-holidays.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byOrganization, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Workspaces';

export function workspaceRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/workspaces',
      summary: 'The workspaces that the credential reaches',
      tag,
      access: { scope: 'workspace', verb: 'read', place: { narrowedByHandler: true } },
      query: workspaceListQuery,
      response: pageSchema(workspaceSchema),
      handle: ({ query }, principal) =>
        listWorkspaces(records, principal, query, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/workspaces',
      summary: 'Make a workspace',
      tag,
      access: { scope: 'workspace', verb: 'create', place: byOrganization },
      body: workspaceDraft,
      status: 201,
      response: workspaceSchema,
      handle: async (input, principal) => {
        await checkHolidayRegion(input.body.settings);
        return createdOnce(
          parts,
          input,
          principal,
          (step) => createWorkspace(step, input.body, now()),
          (id) => readWorkspace(records, id),
        );
      },
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/workspaces/:id',
      summary: 'One workspace',
      tag,
      access: { scope: 'workspace', verb: 'read', place: byId(parts, 'workspace') },
      params: idParams,
      response: workspaceSchema,
      handle: ({ params }) => readWorkspace(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/workspaces/:id',
      summary: 'Change a workspace',
      tag,
      access: { scope: 'workspace', verb: 'update', place: byId(parts, 'workspace') },
      params: idParams,
      body: workspaceUpdate,
      response: workspaceSchema,
      handle: async ({ params, body }) => {
        await checkHolidayRegion(body.settings);
        return updateWorkspace(records, params.id, body, now());
      },
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/workspaces/:id',
      summary: 'Delete an empty workspace',
      tag,
      access: { scope: 'workspace', verb: 'delete', place: byId(parts, 'workspace') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteWorkspace(records, params.id);
        return undefined;
      },
    }),
    accessRoute(),
  ];
}

function accessRoute(): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/workspace-access',
    summary: 'In which workspaces the credential may do something',
    tag,
    access: { anyCredential: 'it tells a credential about itself' },
    query: workspaceAccessQuery,
    response: workspaceAccessSchema,
    handle: ({ query }, principal) => {
      ownOrganization(principal, query.organizationId);
      return workspaceAccess(principal, scopeNamed(query.scope), verbNamed(query.verb));
    },
  });
}

/** Throws 400 for a region without public holidays, naming those that have some. */
export async function checkHolidayRegion(
  settings: { readonly holidayRegion?: string | null | undefined } | null | undefined,
): Promise<void> {
  const region = settings?.holidayRegion ?? undefined;
  const others = region === undefined ? undefined : await otherHolidayRegions(region);
  if (others === undefined) return;
  const reason = `body settings.holidayRegion: there is no holiday region ${region}; known are ${others.join(', ')}`;
  throw problem('invalidRequest', { reason });
}

/** `DEVICE_TYPE`, `ORGANIZATION_MEMBER` or the names as permissions spell them. */
function scopeNamed(name: string): Scope {
  const plain = (text: string) => text.replace(/[._]/g, '').toLowerCase();
  const scope = scopes.find((known) => plain(known) === plain(name));
  if (scope === undefined)
    throw problem('invalidRequest', { reason: `query scope: there is no scope ${name}` });
  return scope;
}

function verbNamed(name: string): Verb {
  const verb = verbs.find((known) => known === name.toLowerCase());
  if (verb === undefined)
    throw problem('invalidRequest', { reason: `query verb: there is no verb ${name}` });
  return verb;
}
