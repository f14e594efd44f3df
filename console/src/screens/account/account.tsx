// Account: appearance, language, password and sessions of the signed-in user.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { chooseTheme, type ThemeChoice, themeChoice } from '../../design/theme.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Segments } from '../../parts/choice.tsx';
import { Page } from '../../parts/page.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { discardSession, useAccount } from '../../session/session.ts';
import { useLanguage, useWords } from '../../words/language.tsx';
import { type Language, languageNames } from '../../words/word-set.ts';
import { accountWords } from './account-words.ts';
import styles from './account.module.css';
import { PasswordForm } from './password-form.tsx';

export function Account() {
  const words = useWords(accountWords);
  const { name, email } = useAccount();
  return (
    <Page title={name || email} name={words.title} path={[words.title]} lead={email}>
      <Card title={words.appearance} isPadded>
        <Appearance />
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

function Appearance() {
  const words = useWords(accountWords);
  const { language, speak } = useLanguage();
  const [theme, setTheme] = useState(themeChoice);
  const themes: readonly ThemeChoice[] = ['system', 'light', 'dark'];
  const languages = Object.keys(languageNames) as Language[];
  return (
    <div className={styles['rows']}>
      <span>{words.theme}</span>
      <Segments
        label={words.theme}
        value={theme}
        options={themes.map((value) => ({ value, label: words.themes[value] }))}
        choose={(choice) => {
          chooseTheme(choice);
          setTheme(choice);
        }}
      />
      <span>{words.language}</span>
      <Segments
        label={words.language}
        value={language}
        options={languages.map((value) => ({ value, label: languageNames[value] }))}
        choose={speak}
      />
    </div>
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
