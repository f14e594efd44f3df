// Invitation: an address and a role; the answer is a link to hand over when no mail is sent.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { CodeBlock, Failure } from '../../../parts/states.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import styles from './members.module.css';
import { roles } from './role-choice.tsx';

export function InviteDialog({ close }: { readonly close: () => void }) {
  const words = useWords(organizationWords);
  const form = useId();
  const invite = useInvite();
  if (invite.data !== undefined)
    return (
      <Dialog
        title={words.invited(invite.data.email)}
        close={close}
        footer={
          <>
            {invite.data.invitationUrl !== null && (
              <CopyButton content={invite.data.invitationUrl} />
            )}
            <Button look="primary" onClick={close}>
              {words.done}
            </Button>
          </>
        }
      >
        {invite.data.invitationUrl !== null && (
          <>
            <p>{words.invitationNote}</p>
            <CodeBlock code={invite.data.invitationUrl} />
          </>
        )}
      </Dialog>
    );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const role = roles.find((one) => one === given.get('role')) ?? 'MEMBER';
    invite.mutate({ email: String(given.get('email')), role });
  };
  return (
    <Dialog
      title={words.invite}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button type="submit" form={form} look="primary" disabled={invite.isPending}>
            {words.inviteAction}
          </Button>
        </>
      }
    >
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField label={words.email} name="email" type="email" required />
        <SelectField label={words.role} name="role" defaultValue="MEMBER">
          {roles.map((role) => (
            <option key={role} value={role}>
              {words.roles[role]}
            </option>
          ))}
        </SelectField>
        {invite.error !== null && <Failure error={invite.error} />}
      </form>
    </Dialog>
  );
}

function useInvite() {
  const { organizationId } = useAccount();
  const queries = useQueryClient();
  const path = { id: organizationId };
  return useMutation({
    mutationFn: (body: { email: string; role: (typeof roles)[number] }) =>
      ask(platform.POST('/v3/organizations/{id}/members', { params: { path }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['members'] }),
  });
}
