// Member place: the requests for members of an organization or of a workspace, and the roles there.
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';

export type Member = components['schemas']['Member'];
type InvitedMember = components['schemas']['InvitedMember'];
export type Role = Member['role'];

export interface Invited {
  readonly email: string;
  readonly role: Role;
}

export interface MemberPlace {
  /** Of the permissions to change members there. */
  readonly scope: 'organization.member' | 'workspace.member';
  /** Of the list among the answers. */
  readonly key: readonly string[];
  /** Of the list in the interface. */
  readonly path: string;
  readonly roles: readonly Role[];
  /** What a new member is offered first. */
  readonly firstRole: Role;
  readonly list: (signal: AbortSignal) => Promise<{ readonly content: readonly Member[] }>;
  readonly invite: (invited: Invited) => Promise<InvitedMember>;
  readonly changeRole: (userId: string, role: Role) => Promise<unknown>;
  readonly remove: (userId: string) => Promise<unknown>;
}

export interface OrganizationPlace extends MemberPlace {
  readonly resetSecondFactor: (userId: string) => Promise<unknown>;
}

export function organizationMembers(id: string): OrganizationPlace {
  const path = { id };
  const memberOf = (userId: string) => ({ path: { id, userId } });
  return {
    scope: 'organization.member',
    key: ['members', id],
    path: `/v3/organizations/${id}/members`,
    roles: ['OWNER', 'ADMIN', 'MEMBER', 'EDITOR', 'VIEWER'],
    firstRole: 'MEMBER',
    list: (signal) =>
      ask(platform.GET('/v3/organizations/{id}/members', { signal, params: { path } })),
    invite: (body) =>
      ask(platform.POST('/v3/organizations/{id}/members', { params: { path }, body })),
    changeRole: (userId, role) =>
      ask(
        platform.PUT('/v3/organizations/{id}/members/{userId}', {
          params: memberOf(userId),
          body: { role },
        }),
      ),
    remove: (userId) =>
      ask(platform.DELETE('/v3/organizations/{id}/members/{userId}', { params: memberOf(userId) })),
    resetSecondFactor: (userId) =>
      ask(
        platform.DELETE('/v3/organizations/{id}/members/{userId}/second-factor', {
          params: memberOf(userId),
        }),
      ),
  };
}
