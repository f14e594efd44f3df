// Members: who belongs to the organization, with which role, and invitations.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2, UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { Chip } from '../../../parts/chip.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../../parts/data-table.tsx';
import { Answered } from '../../../parts/states.tsx';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { OrganizationPage } from '../organization-page.tsx';
import { organizationWords } from '../organization-words.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { RoleChoice } from './role-choice.tsx';

export type Member = components['schemas']['Member'];

export function Members() {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const [isInviting, setInviting] = useState(false);
  const [removed, setRemoved] = useState<Member>();
  const path = { id: organizationId };
  const members = useQuery({
    queryKey: ['members', organizationId],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/organizations/{id}/members', { signal, params: { path } })),
  });
  return (
    <OrganizationPage
      tab="members"
      actions={
        <Button look="primary" onClick={() => setInviting(true)}>
          <UserPlus aria-hidden="true" />
          {words.invite}
        </Button>
      }
    >
      <Sheet>
        <Answered
          answer={members}
          curl={{ path: `/v3/organizations/${organizationId}/members` }}
          skeleton={<TableSkeleton />}
        >
          {({ content }) => <MemberTable members={content} remove={setRemoved} />}
        </Answered>
      </Sheet>
      {isInviting && <InviteDialog close={() => setInviting(false)} />}
      {removed !== undefined && (
        <RemoveMember member={removed} close={() => setRemoved(undefined)} />
      )}
    </OrganizationPage>
  );
}

interface MemberTableProps {
  readonly members: readonly Member[];
  readonly remove: (member: Member) => void;
}

function MemberTable({ members, remove }: MemberTableProps) {
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
    { key: 'role', header: words.role, cell: (member) => <RoleChoice member={member} /> },
    { key: 'since', header: words.since, cell: ({ created }) => <Ago at={created} /> },
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (member) => (
        <Button
          look="ghost"
          isIcon
          aria-label={words.removeMember(member.email)}
          onClick={() => remove(member)}
        >
          <Trash2 aria-hidden="true" />
        </Button>
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

function RemoveMember({ member, close }: { readonly member: Member; readonly close: () => void }) {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const queries = useQueryClient();
  const path = { id: organizationId, userId: member.userId };
  const remove = useMutation({
    mutationFn: () =>
      ask(platform.DELETE('/v3/organizations/{id}/members/{userId}', { params: { path } })),
    onSuccess: async () => {
      toast(words.removed(member.email));
      close();
      await queries.invalidateQueries({ queryKey: ['members'] });
    },
    onError: toastFailure,
  });
  return (
    <ConfirmDialog
      title={words.removeMember(member.email)}
      note={words.removeMemberNote}
      confirmLabel={words.remove}
      cancelLabel={words.cancel}
      isBusy={remove.isPending}
      confirm={() => remove.mutate()}
      close={close}
    />
  );
}
