// Members: who belongs to the organization, with which role, and invitations.
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { MemberList, useMemberDialogs } from './member-list.tsx';
import { organizationMembers } from './member-place.ts';

export function Members() {
  const { organizationId } = useAccount();
  const place = organizationMembers(organizationId);
  const words = useWords(organizationWords);
  const dialogs = useMemberDialogs(place, words.removeMemberNote);
  return (
    <OrganizationPage tab="members" actions={dialogs.inviteButton}>
      <MemberList place={place} remove={dialogs.remove} />
      {dialogs.shown}
    </OrganizationPage>
  );
}
