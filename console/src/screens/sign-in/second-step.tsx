// Second step: a passkey, a code of the authenticator app, or a recovery code completes the sign-in.
import { type ComponentProps, useEffect, useRef, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { hasPasskeys, signedChallenge } from '../../api/passkeys.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import { FormError } from './outside-frame.tsx';
import { signInWords } from './sign-in-words.ts';
import type { SignInWay } from './sign-in-form.tsx';
import { useAction } from '../../parts/use-action.ts';

type Schemas = components['schemas'];
export type SecondStepNeeded = Schemas['SecondStep'];
type Kind = SecondStepNeeded['secondFactors'][number];

interface SecondStepProps {
  readonly needed: SecondStepNeeded;
  readonly startAgain: () => void;
  readonly way: SignInWay;
}

export function SecondStep({ needed, startAgain, way }: SecondStepProps) {
  const { ticket, passkeyOptions, secondFactors } = needed;
  const words = useWords(signInWords);
  const { enter, Frame } = way;
  const kinds = secondFactors.filter((kind) => kind !== 'PASSKEY' || hasPasskeys());
  const [kind, setKind] = useState<Kind>(kinds[0] ?? 'RECOVERY_CODE');
  const complete = useAction({
    mutationFn: async (code: string) => {
      const shown = await shownFactor(kind, code, passkeyOptions);
      if (shown === undefined) throw new Error(words.noPasskey);
      return ask(platform.POST('/v3/auth/login/second-factor', { body: { ticket, ...shown } }));
    },
    onSuccess: enter,
  });
  const { lead, label, input, choice } = kindParts(words)[kind];
  return (
    <Frame
      title={words.secondTitle}
      lead={lead}
      name={words.signIn}
      submit={(given) => complete.mutate(String(given.get('code') ?? ''))}
    >
      {input !== undefined && <FocusedField key={kind} label={label} {...input} />}
      {complete.error !== null && <FormError>{complete.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={complete.isPending}>
        {kind === 'PASSKEY' ? choice : words.signIn}
      </Button>
      {kinds
        .filter((other) => other !== kind)
        .map((other) => (
          <Button key={other} onClick={() => setKind(other)}>
            {kindParts(words)[other].choice}
          </Button>
        ))}
      <Button look="ghost" onClick={startAgain}>
        {words.startAgain}
      </Button>
    </Frame>
  );
}

/** Takes the focus when it appears. */
function FocusedField(props: ComponentProps<typeof TextField>) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return <TextField ref={field} {...props} />;
}

type Shown = Pick<Schemas['SecondStepBody'], 'code' | 'recoveryCode' | 'passkey'>;

/** Undefined when the browser gave no passkey. */
async function shownFactor(
  kind: Kind,
  code: string,
  options: SecondStepNeeded['passkeyOptions'],
): Promise<Shown | undefined> {
  if (kind === 'ONE_TIME_CODE') return { code };
  if (kind === 'RECOVERY_CODE') return { recoveryCode: code };
  const passkey = options === null ? undefined : await signedChallenge(options);
  return passkey && { passkey };
}

const codeInput = { name: 'code', maxLength: 64, required: true } as const;

function kindParts(words: typeof signInWords.en) {
  return {
    ONE_TIME_CODE: {
      lead: words.secondLead,
      label: words.code,
      choice: words.withCode,
      input: { ...codeInput, inputMode: 'numeric', autoComplete: 'one-time-code' },
    },
    RECOVERY_CODE: {
      lead: words.recoveryLead,
      label: words.recoveryCode,
      choice: words.withRecovery,
      input: { ...codeInput, autoComplete: 'off' },
    },
    PASSKEY: {
      lead: words.passkeyLead,
      label: words.withPasskey,
      choice: words.withPasskey,
      input: undefined,
    },
  } as const;
}
