// Forgotten password: mails a link; the answer is the same for every address (contract 36).
import { useQuery } from '@tanstack/react-query';
import { aboutQuery } from '../../api/about.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { FormError, OutsideFrame } from './outside-frame.tsx';
import { accessWords } from './access-words.ts';
import { useAction } from '../../ui/use-action.ts';

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
