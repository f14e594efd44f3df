// Passkey button: signs in with a passkey of this device or of a phone nearby, without a name or password.
import { hasPasskeys, signedChallenge } from '../../api/passkeys.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { useWords } from '../../words/language.tsx';
import { FormError } from './outside-frame.tsx';
import { signInWords } from './sign-in-words.ts';
import { useAction } from '../../parts/use-action.ts';

/** Nothing where the browser has no passkeys. */
export function PasskeyButton({ enter }: { readonly enter: () => Promise<void> }) {
  const words = useWords(signInWords);
  const login = useAction({
    mutationFn: async () => {
      const { ticket, options } = await ask(platform.POST('/v3/auth/login/passkey-options'));
      const passkey = await signedChallenge(options);
      if (passkey === undefined) throw new Error(words.noPasskey);
      return ask(platform.POST('/v3/auth/login/passkey', { body: { ticket, passkey } }));
    },
    onSuccess: enter,
  });
  if (!hasPasskeys()) return null;
  return (
    <>
      {login.error !== null && <FormError>{login.error.message}</FormError>}
      <Button disabled={login.isPending} onClick={() => login.mutate()}>
        {words.withPasskey}
      </Button>
    </>
  );
}
