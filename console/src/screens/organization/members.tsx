// Members: who belongs to the organization, with which role, invitations, and their second factors; the list serves workspaces too.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { RotateCcwKey, Trash2, UserPlus } from 'lucide-react';
import { ask, platform } from '../../api/platform.ts';
import { useAccount } from '../../session/session.ts';
import { Card } from '../../ui/card.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { ConfirmDialog, Dialog, FormDialog } from '../../ui/dialog.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { Answered, Bone, CodeBlock, Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { OrganizationPage } from './organization-page.tsx';
import { memberFactorWords, organizationWords } from './organization-words.ts';
import type { components } from '../../../generated/interface-types.ts';
import { useMayDo } from '../../session/permissions.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type DataColumn, DataTable, RecordSheet } from '../../ui/data-table.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import styles from './members.module.css';

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

// Member list: those of an organization or of a workspace with their roles, invitations and removal.

interface MemberListProps {
  readonly place: MemberPlace;
  readonly remove: (member: Member) => void;
  /** Asks for the reset of a second factor, where this is possible. */
  readonly reset?: (member: Member) => void;
  /** Of the user, who has no such button. */
  readonly ownId?: string;
  /** What the list is for, where it can be empty. */
  readonly emptyTitle?: string;
}

export function MemberList({ emptyTitle, ...shown }: MemberListProps) {
  const { place } = shown;
  const members = useQuery({
    queryKey: place.key,
    queryFn: ({ signal }) => place.list(signal),
  });
  return (
    <RecordSheet answer={members} path={place.path} none={<Empty title={emptyTitle} />}>
      {(found) => <MemberTable {...shown} members={found} />}
    </RecordSheet>
  );
}

/** The invitation and the question before a removal, with the button that opens the first. */
export function useMemberDialogs(place: MemberPlace, removeNote: string) {
  const words = useWords(organizationWords);
  const [isInviting, setInviting] = useState(false);
  const [removed, setRemoved] = useState<Member>();
  return {
    remove: setRemoved,
    inviteButton: (
      <Button needs={`${place.scope}: create`} look="primary" onClick={() => setInviting(true)}>
        <UserPlus aria-hidden="true" />
        {words.invite}
      </Button>
    ),
    shown: (
      <>
        {isInviting && <InviteDialog place={place} close={() => setInviting(false)} />}
        {removed !== undefined && (
          <RemoveMember
            place={place}
            member={removed}
            note={removeNote}
            close={() => setRemoved(undefined)}
          />
        )}
      </>
    ),
  };
}

interface MemberTableProps extends Omit<MemberListProps, 'emptyTitle'> {
  readonly members: readonly Member[];
}

function MemberTable({ place, members, remove, reset, ownId }: MemberTableProps) {
  const words = useWords(organizationWords);
  const columns: readonly DataColumn<Member>[] = [
    {
      key: 'name',
      header: words.name,
      cell: ({ name, pending }) => (
        <>
          {name} {pending && <Chip tone="sun">{words.pending}</Chip>}
        </>
      ),
    },
    { key: 'email', header: words.email, cell: ({ email }) => email },
    {
      key: 'role',
      header: words.role,
      cell: (member) => <RoleChoice place={place} member={member} />,
    },
    { key: 'since', header: words.since, cell: ({ created }) => <Ago at={created} /> },
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (member) => (
        <>
          {reset !== undefined && !member.pending && member.userId !== ownId && (
            <ResetButton member={member} reset={reset} />
          )}
          <IconButton
            needs={`${place.scope}: delete`}
            label={words.removeMember(member.email)}
            icon={Trash2}
            onClick={() => remove(member)}
          />
        </>
      ),
    },
  ];
  return (
    <DataTable
      label={words.members}
      columns={columns}
      rows={members}
      keyOf={({ userId }) => userId}
    />
  );
}

interface ResetButtonProps {
  readonly member: Member;
  readonly reset: (member: Member) => void;
}

function ResetButton({ member, reset }: ResetButtonProps) {
  const words = useWords(memberFactorWords);
  return (
    <IconButton
      needs="organization.member: manage"
      label={words.reset(member.email)}
      icon={RotateCcwKey}
      onClick={() => reset(member)}
    />
  );
}

interface RemoveMemberProps {
  readonly place: MemberPlace;
  readonly member: Member;
  /** What is lost with the role. */
  readonly note: string;
  readonly close: () => void;
}

function RemoveMember({ place, member, note, close }: RemoveMemberProps) {
  const words = useWords(organizationWords);
  const { email, userId } = member;
  return (
    <RemoveDialog
      name={email}
      title={words.removeMember(email)}
      note={note}
      label={words.remove}
      message={words.removed(email)}
      send={() => place.remove(userId)}
      lists={[place.key]}
      close={close}
    />
  );
}

// Role choice: changes the role of a member in place.

interface RoleChoiceProps {
  readonly place: MemberPlace;
  readonly member: Member;
}

function RoleChoice({ place, member }: RoleChoiceProps) {
  const words = useWords(organizationWords);
  const queries = useQueryClient();
  const mayChange = useMayDo(`${place.scope}: update`);
  const change = useAction({
    mutationFn: (role: Role) => place.changeRole(member.userId, role),
    onSuccess: (_answer, role) => toast(words.roleChanged(member.email, words.roles[role])),
    onError: toastFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: place.key }),
  });
  return (
    <select
      className={styles['role']}
      aria-label={words.roleOf(member.email)}
      disabled={!mayChange}
      value={change.isPending ? change.variables : member.role}
      onChange={(event) => change.mutate(event.target.value as Role)}
    >
      {place.roles.map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}

// Invitation: an address and a role; the answer is a link when no mail is sent.

interface InviteDialogProps {
  readonly place: MemberPlace;
  readonly close: () => void;
}

function InviteDialog({ place, close }: InviteDialogProps) {
  const words = useWords(organizationWords);
  const { save, saved, isBusy, error } = useFormSave({
    send: (invited: Invited) => place.invite(invited),
    refreshes: [place.key],
  });
  if (saved !== undefined) return <InvitedDialog {...saved} close={close} />;
  const submit = (given: FormData) => {
    const role = place.roles.find((one) => one === given.get('role')) ?? place.firstRole;
    save({ email: String(given.get('email')), role });
  };
  return (
    <FormDialog
      title={words.invite}
      submitLabel={words.inviteAction}
      submit={submit}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField label={words.email} name="email" type="email" required />
      <SelectField label={words.role} name="role" defaultValue={place.firstRole}>
        {place.roles.map((role) => (
          <option key={role} value={role}>
            {words.roles[role]}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}

interface InvitedDialogProps {
  readonly email: string;
  readonly invitationUrl: string | null;
  readonly close: () => void;
}

function InvitedDialog({ email, invitationUrl, close }: InvitedDialogProps) {
  const words = useWords(organizationWords);
  const footer = (
    <>
      {invitationUrl !== null && <CopyButton content={invitationUrl} />}
      <Button look="primary" onClick={close}>
        {words.done}
      </Button>
    </>
  );
  return (
    <Dialog title={words.invited(email)} close={close} footer={footer}>
      {invitationUrl !== null && (
        <>
          <p>{words.invitationNote}</p>
          <CodeBlock code={invitationUrl} />
        </>
      )}
    </Dialog>
  );
}

// Member place: the requests for members of an organization or of a workspace, and the roles there.

export type Member = components['schemas']['Member'];
type InvitedMember = components['schemas']['InvitedMember'];
type Role = Member['role'];

interface Invited {
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
