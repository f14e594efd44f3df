// Invitation: an address and a role; the answer is a link when no mail is sent.
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { CodeBlock } from '../../../parts/states.tsx';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import type { Invited, MemberPlace } from './member-place.ts';

interface InviteDialogProps {
  readonly place: MemberPlace;
  readonly close: () => void;
}

export function InviteDialog({ place, close }: InviteDialogProps) {
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
      {...{ submit, isBusy, error, close }}
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
