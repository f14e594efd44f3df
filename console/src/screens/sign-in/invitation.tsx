// Invitation: the holder of the link joins an organization, with a new account or the own one (contract 35).
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Refusal } from '../../api/refusal.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Failure } from '../../ui/states.tsx';
import { discardSession } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { OutsideFrame } from './outside-frame.tsx';
import { accessWords } from './access-words.ts';
import { DeadLink } from './dead-link.tsx';
import { PasswordField } from './password-field.tsx';
import { useAction } from '../../ui/use-action.ts';

type Invited = components['schemas']['Invitation'];

export function Invitation() {
  const words = useWords(accessWords);
  const { token } = useParams({ from: '/invitations/$token' });
  const invitation = useQuery({
    queryKey: ['invitation', token],
    // After it was accepted the answer would be 404.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/auth/invitations/{token}', { signal, params: { path: { token } } })),
  });
  const { data, error } = invitation;
  if (data !== undefined) return <AcceptForm token={token} invited={data} />;
  if (error instanceof Refusal && error.status === 404)
    return <DeadLink name={words.invitation} note={words.deadInvitation} />;
  return (
    <OutsideFrame
      title={words.invitation}
      name={words.invitation}
      {...(error === null ? { lead: words.loadingInvitation } : {})}
    >
      {error !== null && <Failure error={error} retry={() => void invitation.refetch()} />}
    </OutsideFrame>
  );
}

interface AcceptFormProps {
  readonly token: string;
  readonly invited: Invited;
}

function AcceptForm({ token, invited }: AcceptFormProps) {
  const words = useWords(accessWords);
  const accept = useAcceptance(token);
  if (accept.error instanceof Refusal && accept.error.status === 404)
    return <DeadLink name={words.invitation} note={words.deadInvitation} />;
  const isKnown = invited.newUser === false;
  return (
    <OutsideFrame
      title={words.invitedTo(invited.organizationName)}
      lead={words.invitedAs(invited.email)}
      name={words.invitation}
      submit={(given) =>
        accept.mutate({
          name: String(given.get('name') ?? '').trim(),
          password: String(given.get('password')),
        })
      }
    >
      {/* Says to a password manager whose password this is. */}
      <input hidden readOnly name="username" autoComplete="username" value={invited.email} />
      {!isKnown && (
        <TextField
          label={words.yourName}
          name="name"
          autoComplete="name"
          maxLength={200}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the first field of a page that is only a form
          autoFocus
        />
      )}
      <InvitedPassword newUser={invited.newUser} error={accept.error} />
      <Button type="submit" look="primary" disabled={accept.isPending}>
        {accept.isPending ? words.accepting : words.accept}
      </Button>
    </OutsideFrame>
  );
}

interface InvitedPasswordProps {
  readonly newUser: boolean | null;
  readonly error: Error | null;
}

/** Null: the link did not come by mail, and does not say whether the address has an account. */
function InvitedPassword({ newUser, error }: InvitedPasswordProps) {
  const words = useWords(accessWords);
  const isKnown = newUser === false;
  const hints = { known: words.ownPasswordHint, new: words.passwordRules };
  const hint = newUser === null ? words.anyPasswordHint : hints[isKnown ? 'known' : 'new'];
  const label = newUser === true ? words.choosePassword : words.ownPassword;
  return (
    <PasswordField
      label={newUser === null ? words.password : label}
      hint={hint}
      error={error}
      isNew={!isKnown}
      isFirst={isKnown}
    />
  );
}

/** Accepts and signs in with the same password, so that it is typed once. */
function useAcceptance(token: string) {
  const navigate = useNavigate();
  return useAction({
    mutationFn: async ({ name, password }: { name: string; password: string }) => {
      const body = { password, ...(name === '' ? {} : { name }) };
      const params = { path: { token } };
      const { email } = await ask(platform.POST('/v3/auth/invitations/{token}', { params, body }));
      return ask(platform.POST('/v3/auth/login', { body: { email, password } }));
    },
    onSuccess: async () => {
      discardSession();
      await navigate({ to: '/' });
    },
  });
}
