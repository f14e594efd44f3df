// Mailed links: accept an invitation, ask for a new password, and choose it (contracts 35 and 36).
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery, ask, platform, Refusal } from '../../api/platform.ts';
import { discardSession } from '../../session/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { accessWords } from './access-words.ts';
import { FormError, OutsideFrame } from './outside-frame.tsx';

export function NewPassword() {
  const words = useWords(accessWords);
  const { token } = useParams({ from: '/password-reset/$token' });
  const setting = useAction({
    mutationFn: (password: string) => {
      const params = { path: { token } };
      return ask(platform.POST('/v3/auth/password-reset/{token}', { params, body: { password } }));
    },
    onSuccess: discardSession,
  });
  if (setting.error instanceof Refusal && setting.error.status === 404)
    return (
      <DeadLink name={words.newPassword} note={words.deadReset}>
        <ButtonLink to="/password-reset" look="primary">
          {words.newLink}
        </ButtonLink>
      </DeadLink>
    );
  if (setting.isSuccess)
    return (
      <OutsideFrame title={words.isSet} lead={words.isSetLead} name={words.newPassword}>
        <ButtonLink to="/sign-in" look="primary">
          {words.signIn}
        </ButtonLink>
      </OutsideFrame>
    );
  return (
    <OutsideFrame
      title={words.newPassword}
      lead={words.newPasswordLead}
      name={words.newPassword}
      submit={(given) => setting.mutate(String(given.get('password')))}
    >
      {/* The link does not say whose password it is; the password manager asks. */}
      <input hidden readOnly name="username" autoComplete="username" value="" />
      <PasswordField
        label={words.newPasswordField}
        hint={words.passwordRules}
        error={setting.error}
        isNew
        isFirst
      />
      <Button type="submit" look="primary" disabled={setting.isPending}>
        {setting.isPending ? words.setting : words.setPassword}
      </Button>
    </OutsideFrame>
  );
}

// Forgotten password: mails a link; the answer is the same for every address (contract 36).

export function Forgotten() {
  const words = useWords(accessWords);
  const sendsMail = useSendsMail();
  const request = useAction({
    mutationFn: async (email: string) => {
      await ask(platform.POST('/v3/auth/password-reset', { body: { email } }));
      return email;
    },
  });
  const back = <ButtonLink to="/sign-in">{words.signIn}</ButtonLink>;
  if (sendsMail === false)
    return (
      <OutsideFrame title={words.noMail} lead={words.noMailLead} name={words.forgotten}>
        {back}
      </OutsideFrame>
    );
  if (request.data !== undefined)
    return (
      <OutsideFrame title={words.sent} lead={words.sentLead(request.data)} name={words.forgotten}>
        {back}
      </OutsideFrame>
    );
  return (
    <OutsideFrame
      title={words.forgotten}
      lead={words.forgottenLead}
      name={words.forgotten}
      submit={(given) => request.mutate(String(given.get('email')))}
    >
      <TextField
        label={words.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the only field of the page
        autoFocus
      />
      {request.error !== null && <FormError>{request.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={request.isPending}>
        {request.isPending ? words.sending : words.sendLink}
      </Button>
      {back}
    </OutsideFrame>
  );
}

/** Undefined until the platform has said so. */
function useSendsMail(): boolean | undefined {
  const about = useQuery(aboutQuery);
  return about.data?.features.mail;
}

// Invitation: the holder of the link joins an organization, with a new account or the own one (contract 35).

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

// Dead link: a mailed link that was used, replaced or is too old, and what to do instead.

interface DeadLinkProps {
  /** Name in the tab of the browser. */
  readonly name: string;
  readonly note: string;
  /** What else can be done before the way to the sign-in. */
  readonly children?: ReactNode;
}

function DeadLink({ name, note, children }: DeadLinkProps) {
  const words = useWords(accessWords);
  return (
    <OutsideFrame title={words.dead} lead={note} name={name}>
      {children}
      <ButtonLink to="/sign-in">{words.signInInstead}</ButtonLink>
    </OutsideFrame>
  );
}

// Password field: shows why its value was refused, and takes the focus then.

interface PasswordFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly error: Error | null;
  readonly isNew: boolean;
  /** The first field of the page has the focus. */
  readonly isFirst: boolean;
}

function PasswordField({ label, hint, error, isNew, isFirst }: PasswordFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFirst || error !== null) field.current?.focus();
  }, [isFirst, error]);
  return (
    <TextField
      ref={field}
      label={label}
      hint={hint}
      error={error?.message}
      name="password"
      type="password"
      autoComplete={isNew ? 'new-password' : 'current-password'}
      required
    />
  );
}
