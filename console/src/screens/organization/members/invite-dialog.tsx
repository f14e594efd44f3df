// Invitation: an address and a role; the answer is a link when no mail is sent.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { CodeBlock, Failure } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import styles from './members.module.css';
import type { Invited, MemberPlace } from './member-place.ts';

interface InviteDialogProps {
  readonly place: MemberPlace;
  readonly close: () => void;
}

export function InviteDialog({ place, close }: InviteDialogProps) {
  const words = useWords(organizationWords);
  const form = useId();
  const invite = useInvite(place);
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
    const role = place.roles.find((one) => one === given.get('role')) ?? place.firstRole;
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
        <SelectField label={words.role} name="role" defaultValue={place.firstRole}>
          {place.roles.map((role) => (
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

function useInvite(place: MemberPlace) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (invited: Invited) => place.invite(invited),
    onSuccess: () => queries.invalidateQueries({ queryKey: place.key }),
  });
}
