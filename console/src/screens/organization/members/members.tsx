// Members: who belongs to the organization, with which role, invitations, and their second factors.
import { useState } from 'react';
import { RemoveDialog } from '../../../parts/remove-dialog.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { MemberList, useMemberDialogs } from './member-list.tsx';
import { memberFactorWords } from './member-factor-words.ts';
import { type Member, organizationMembers, type OrganizationPlace } from './member-place.ts';
import { SecondFactorDemand } from './second-factor-demand.tsx';

export function Members() {
  const { organizationId, organizations, id } = useAccount();
  const place = organizationMembers(organizationId);
  const words = useWords(organizationWords);
  const dialogs = useMemberDialogs(place, words.removeMemberNote);
  const [reset, setReset] = useState<Member>();
  const own = organizations.find((one) => one.organizationId === organizationId);
  const mayManage = own?.permissions['organization']?.includes('manage') === true;
  return (
    <OrganizationPage tab="members" actions={dialogs.inviteButton}>
      <SecondFactorDemand organizationId={organizationId} mayChange={mayManage} />
      <MemberList
        place={place}
        remove={dialogs.remove}
        {...(mayManage && { reset: setReset, ownId: id })}
      />
      {dialogs.shown}
      {reset !== undefined && (
        <ResetDialog place={place} member={reset} close={() => setReset(undefined)} />
      )}
    </OrganizationPage>
  );
}

interface ResetDialogProps {
  readonly place: OrganizationPlace;
  readonly member: Member;
  readonly close: () => void;
}

function ResetDialog({ place, member: { email, userId }, close }: ResetDialogProps) {
  const words = useWords(memberFactorWords);
  return (
    <RemoveDialog
      name={email}
      title={words.resetTitle(email)}
      note={words.resetNote}
      label={words.resetIt}
      message={words.isReset(email)}
      send={() => place.resetSecondFactor(userId)}
      lists={[place.key]}
      close={close}
    />
  );
}
