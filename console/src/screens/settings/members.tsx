// Members of a workspace: who has a role here, besides those of the organization.
import { Link } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { MemberList, type MemberPlace, useMemberDialogs } from '../organization/members.tsx';
import { SettingsFrame, useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';

export function WorkspaceMembers() {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const { organizationId } = useAccount();
  const place = workspaceMembers(workspaceId);
  const dialogs = useMemberDialogs(place, words.memberRemoveNote);
  return (
    <SettingsFrame tab="members" curl={() => ({ path: place.path })} actions={dialogs.inviteButton}>
      <p className="mute">
        {words.membersNote}{' '}
        <Link
          to="/o/$organizationId/settings/members"
          params={{ organizationId }}
          className="info underlined"
        >
          {words.organizationMembers}
        </Link>
      </p>
      <MemberList place={place} remove={dialogs.remove} emptyTitle={words.noMembers} />
      {dialogs.shown}
    </SettingsFrame>
  );
}

/** Requests for those with a role in a single workspace. */
function workspaceMembers(id: string): MemberPlace {
  const path = { id };
  const memberOf = (userId: string) => ({ path: { id, userId } });
  return {
    scope: 'workspace.member',
    key: ['workspace members', id],
    path: `/v3/workspaces/${id}/members`,
    roles: ['ADMIN', 'EDITOR', 'VIEWER'],
    firstRole: 'VIEWER',
    list: (signal) =>
      ask(platform.GET('/v3/workspaces/{id}/members', { signal, params: { path } })),
    invite: ({ email, role }) =>
      ask(
        platform.POST('/v3/workspaces/{id}/members', {
          params: { path },
          body: { email, role: workspaceRole(role) },
        }),
      ),
    changeRole: (userId, role) =>
      ask(
        platform.PUT('/v3/workspaces/{id}/members/{userId}', {
          params: memberOf(userId),
          body: { role: workspaceRole(role) },
        }),
      ),
    remove: (userId) =>
      ask(platform.DELETE('/v3/workspaces/{id}/members/{userId}', { params: memberOf(userId) })),
  };
}

function workspaceRole(role: string) {
  return (['ADMIN', 'EDITOR', 'VIEWER'] as const).find((one) => one === role) ?? 'VIEWER';
}
