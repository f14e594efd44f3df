// Members: who belongs to the organization, with which role, invitations, and their second factors.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { useAccount } from '../../session/session.ts';
import { Card } from '../../ui/card.tsx';
import { CheckField } from '../../ui/field.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { OrganizationPage } from './organization-page.tsx';
import { memberFactorWords, organizationWords } from './organization-words.ts';
import {
  type Member,
  MemberList,
  organizationMembers,
  type OrganizationPlace,
  useMemberDialogs,
} from './member-list.tsx';

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

// Second factor demand: whether members of the organization must have a second factor, and the switch for it.

interface SecondFactorDemandProps {
  readonly organizationId: string;
  readonly mayChange: boolean;
}

function SecondFactorDemand({ organizationId, mayChange }: SecondFactorDemandProps) {
  const words = useWords(memberFactorWords);
  const params = { path: { id: organizationId } };
  const demand = useQuery({
    queryKey: keyOf(organizationId),
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/organizations/{id}/second-factor', { signal, params })),
  });
  const path = `/v3/organizations/${organizationId}/second-factor`;
  return (
    <Card title={words.title} isPadded>
      <Answered answer={demand} curl={{ path }} skeleton={<Bone />}>
        {({ secondFactorRequired: isOn }) =>
          mayChange ? (
            <Switch organizationId={organizationId} isOn={isOn} />
          ) : (
            <p>{isOn ? words.on : words.off}</p>
          )
        }
      </Answered>
    </Card>
  );
}

const keyOf = (organizationId: string) => ['second-factor-demand', organizationId] as const;

interface SwitchProps {
  readonly organizationId: string;
  readonly isOn: boolean;
}

function Switch({ organizationId, isOn }: SwitchProps) {
  const words = useWords(memberFactorWords);
  const known = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const change = useAction({
    mutationFn: (secondFactorRequired: boolean) =>
      ask(
        platform.PUT('/v3/organizations/{id}/second-factor', {
          params: { path: { id: organizationId } },
          body: { secondFactorRequired },
        }),
      ),
    onSuccess: (answer) => {
      known.setQueryData(keyOf(organizationId), answer);
      setAsking(false);
      toast(answer.secondFactorRequired ? words.demanded : words.released);
    },
  });
  const turn = (wanted: boolean) => {
    change.reset();
    if (wanted) setAsking(true);
    else change.mutate(false, { onError: toastFailure });
  };
  return (
    <>
      <CheckField label={words.required} hint={words.hint} isOn={isOn} change={turn} />
      {isAsking && (
        <ConfirmDialog
          title={words.demandTitle}
          note={words.demandNote}
          confirmLabel={words.demand}
          cancelLabel={words.cancel}
          isBusy={change.isPending}
          error={change.error}
          confirm={() => change.mutate(true)}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}
