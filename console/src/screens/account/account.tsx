// Account: preferences, password and sessions of the signed-in user.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Page } from '../../parts/page.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { discardSession, useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { accountWords } from './account-words.ts';
import styles from './account.module.css';
import { PasswordForm } from './password-form.tsx';
import { PreferenceRows } from './preference-rows.tsx';

export function Account() {
  const words = useWords(accountWords);
  const { name, email } = useAccount();
  return (
    <Page title={name || email} name={words.title} path={[words.title]} lead={email}>
      <Card title={words.appearance} isPadded>
        <PreferenceRows />
      </Card>
      <Card title={words.password} isPadded>
        <PasswordForm />
      </Card>
      <Card title={words.sessions} isPadded>
        <Sessions />
      </Card>
    </Page>
  );
}

function Sessions() {
  const words = useWords(accountWords);
  const navigate = useNavigate();
  const end = useMutation({
    mutationFn: () => ask(platform.POST('/v3/auth/logout-everywhere')),
    onSuccess: async ({ sessions }) => {
      toast(words.ended(sessions));
      await navigate({ to: '/sign-in' });
      discardSession();
    },
    onError: toastFailure,
  });
  return (
    <div className={styles['line']}>
      <p className="mute">{words.sessionsNote}</p>
      <Button look="danger" disabled={end.isPending} onClick={() => end.mutate()}>
        {words.endAll}
      </Button>
    </div>
  );
}
