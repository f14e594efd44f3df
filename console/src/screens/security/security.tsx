// Security: how the signed-in user signs in, and where this is the case.
import { useQuery } from '@tanstack/react-query';
import { aboutQuery } from '../../api/about.ts';
import { Card } from '../../parts/card.tsx';
import { useWords } from '../../words/language.tsx';
import { AccountPage } from '../account/account-page.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactor } from './second-factor.tsx';
import { securityWords } from './security-words.ts';
import { Sessions } from './sessions.tsx';

export function Security() {
  const words = useWords(securityWords);
  const { data: about } = useQuery(aboutQuery);
  return (
    <AccountPage tab="security">
      {about?.signInKinds.includes('PASSWORD') === true && (
        <Card title={words.password} isPadded>
          <PasswordForm />
        </Card>
      )}
      <SecondFactor />
      <Passkeys />
      <Sessions />
    </AccountPage>
  );
}
