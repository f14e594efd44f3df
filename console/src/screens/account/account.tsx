// Own account: the preferences of the signed-in user, the security of the sign-in, and the page where that has to be completed.
import { type ReactNode, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { Segments, Tabs } from '../../ui/choice.tsx';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { zoneChoices } from '../../words/zone-times.ts';
import { turnSingleKeys } from '../../ui/keys.ts';
import { chooseTheme, themeChoice, type ThemeChoice } from '../../ui/theme.ts';
import { useLanguage, useWords } from '../../words/language.tsx';
import { type Language, languageNames } from '../../words/word-set.ts';
import { accountWords, enrolmentWords, securityWords } from './account-words.ts';
import styles from './account.module.css';
import { Page } from '../../ui/page.tsx';
import { signOut, signOutEverywhere, useAccount } from '../../session/session.ts';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery, ask, platform, Refusal } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../ui/data-table.tsx';
import { Answered } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { browserNameOf, Passkeys } from './passkeys.tsx';
import { PasswordDialog, PasswordForm } from './password.tsx';
import { SecondFactor, secondFactorQuery } from './second-factor.tsx';
import securityStyles from './security.module.css';
import { OutsideFrame, useReturn } from '../sign-in/outside-frame.tsx';

export function Account() {
  const words = useWords(accountWords);
  return (
    <AccountPage tab="appearance">
      <Card title={words.appearance} isPadded>
        <PreferenceRows />
      </Card>
    </AccountPage>
  );
}

// Preference rows of the account: theme, language, times and keys, which follow the user.

const themes: readonly ThemeChoice[] = ['system', 'light', 'dark'];
const languages = Object.keys(languageNames) as Language[];

function PreferenceRows() {
  return (
    <div className={styles['rows']}>
      <ThemeRow />
      <LanguageRow />
      <ZoneRow />
      <KeysRow />
    </div>
  );
}

function ThemeRow() {
  const words = useWords(accountWords);
  const [theme, setTheme] = useState(themeChoice);
  return (
    <>
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
    </>
  );
}

function LanguageRow() {
  const words = useWords(accountWords);
  const { language, speak } = useLanguage();
  return (
    <>
      <span>{words.language}</span>
      <Segments
        label={words.language}
        value={language}
        options={languages.map((value) => ({ value, label: languageNames[value] }))}
        choose={(chosen) => {
          speak(chosen);
          changePreferences((before) => ({ ...before, language: chosen }));
        }}
      />
    </>
  );
}

function ZoneRow() {
  const words = useWords(accountWords);
  const { zone = 'device' } = usePreferences() ?? {};
  return (
    <>
      <span>{words.times}</span>
      <div>
        <Segments
          label={words.times}
          value={zone}
          options={zoneChoices.map((value) => ({
            value,
            label: words.zones[value],
          }))}
          choose={(chosen) => changePreferences((before) => ({ ...before, zone: chosen }))}
        />
        <p className={styles['note']}>{words.zoneNotes[zone]}</p>
      </div>
    </>
  );
}

function KeysRow() {
  const words = useWords(accountWords);
  const isOn = usePreferences()?.singleKeys !== false;
  return (
    <>
      <span>{words.keys}</span>
      <div>
        <Segments
          label={words.keys}
          value={isOn ? 'on' : 'off'}
          options={[
            { value: 'on', label: words.keysOn },
            { value: 'off', label: words.keysOff },
          ]}
          choose={(chosen) => {
            turnSingleKeys(chosen === 'on');
            changePreferences((before) => ({ ...before, singleKeys: chosen === 'on' }));
          }}
        />
        <p className={styles['note']}>{words.keysNote}</p>
      </div>
    </>
  );
}

// Account page: the frame of its tabs, with the name of the signed-in user.

interface AccountPageProps {
  readonly tab: 'appearance' | 'security';
  readonly children: ReactNode;
}

export function AccountPage({ tab, children }: AccountPageProps) {
  const words = useWords(accountWords);
  const { name, email } = useAccount();
  return (
    <Page
      title={name || email}
      name={`${words[tab]} · ${words.title}`}
      path={[words.title, words[tab]]}
      lead={email}
    >
      <Tabs
        label={words.title}
        tabs={[
          { label: words.appearance, link: { to: '/me' } },
          { label: words.security, link: { to: '/me/security' } },
        ]}
      />
      {children}
    </Page>
  );
}

// Security: how the signed-in user signs in, and where this is the case.

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

// Sessions: where the user is signed in, and how to end each of them.

type Session = components['schemas']['Session'];

const path = '/v3/auth/sessions';

function Sessions() {
  const words = useWords(securityWords);
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => ask(platform.GET(path, { signal })),
  });
  return (
    <Card title={words.sessions}>
      <Answered answer={sessions} curl={{ path }} skeleton={<TableSkeleton rows={2} />}>
        {({ content }) => (
          <>
            <SessionTable sessions={content} />
            <EndButtons hasOthers={content.length > 1} />
          </>
        )}
      </Answered>
    </Card>
  );
}

function SessionTable({ sessions }: { readonly sessions: readonly Session[] }) {
  const words = useWords(securityWords);
  const known = useQueryClient();
  const [asked, setAsked] = useState<Session>();
  const end = useAction({
    mutationFn: ({ session: { id }, password }: Ending) =>
      ask(
        platform.DELETE('/v3/auth/sessions/{id}', {
          params: { path: { id } },
          body: { password },
        }),
      ),
    onSuccess: () => toast(words.ended(1)),
    onError: (error, { session }) => {
      if (asksPassword(error)) setAsked(session);
      else toastFailure(error);
    },
    onSettled: () => known.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const columns: readonly DataColumn<Session>[] = [
    {
      key: 'browser',
      header: words.browser,
      cell: ({ userAgent, current }) => (
        <>
          {browserNameOf(userAgent) ?? words.unknownBrowser}{' '}
          {current && <Chip tone="sun">{words.thisBrowser}</Chip>}
        </>
      ),
    },
    { key: 'kind', header: words.signedInBy, cell: ({ signInKind }) => words.kinds[signInKind] },
    { key: 'ip', header: words.address, cell: ({ ip }) => <span className="mono">{ip}</span> },
    { key: 'created', header: words.signedIn, cell: ({ created }) => <Ago at={created} /> },
    { key: 'seen', header: words.lastSeen, cell: ({ lastSeen }) => <Ago at={lastSeen} /> },
    {
      key: 'actions',
      header: words.actions,
      isQuiet: true,
      cell: (session) =>
        !session.current && (
          <IconButton
            label={words.end(browserNameOf(session.userAgent) ?? words.unknownBrowser)}
            icon={LogOut}
            disabled={end.isPending}
            onClick={() => end.mutate({ session, password: null })}
          />
        ),
    },
  ];
  return (
    <>
      <DataTable
        label={words.sessionList}
        columns={columns}
        rows={sessions}
        keyOf={({ id }) => id}
      />
      {asked !== undefined && (
        <PasswordDialog
          title={words.confirmEnd}
          submitLabel={words.confirm}
          send={async (password) => {
            await end.mutateAsync({ session: asked, password });
            setAsked(undefined);
          }}
          close={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface Ending {
  readonly session: Session;
  readonly password: string | null;
}

/** Whether the session is too old to end others without the password. */
function asksPassword(error: unknown): boolean {
  return error instanceof Refusal && error.errorCode === '40399_AUTHENTICATE_AGAIN';
}

function EndButtons({ hasOthers }: { readonly hasOthers: boolean }) {
  const words = useWords(securityWords);
  const known = useQueryClient();
  const [asked, setAsked] = useState<'others' | 'all'>();
  const askFor = (ended: 'others' | 'all') => (error: Error) => {
    if (asksPassword(error)) setAsked(ended);
    else toastFailure(error);
  };
  const endOthers = useAction({
    mutationFn: (password: string | null) =>
      ask(platform.POST('/v3/auth/sessions/end-others', { body: { password } })),
    onSuccess: ({ sessions }) => {
      toast(words.ended(sessions));
      return known.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: askFor('others'),
  });
  const endAll = useAction({
    mutationFn: signOutEverywhere,
    onError: askFor('all'),
  });
  return (
    <div className={securityStyles['buttons']}>
      {hasOthers && (
        <Button disabled={endOthers.isPending} onClick={() => endOthers.mutate(null)}>
          {words.endOthers}
        </Button>
      )}
      <Button look="danger" disabled={endAll.isPending} onClick={() => endAll.mutate(null)}>
        {words.endAll}
      </Button>
      {asked !== undefined && (
        <PasswordDialog
          title={words.confirmEnd}
          submitLabel={asked === 'all' ? words.endAll : words.endOthers}
          send={async (password) => {
            await (asked === 'all' ? endAll : endOthers).mutateAsync(password);
            setAsked(undefined);
          }}
          close={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}

// Entry pages: a member sets up the second factor that the organization demands, the owner a first password.

export function Enrolment() {
  const words = useWords(enrolmentWords);
  const { organizationId, organizations } = useAccount();
  const { data: seen } = useQuery(secondFactorQuery);
  const { to } = useSearch({ from: '/signed-in/second-factor' });
  const goOn = useReturn(to);
  const leave = useAction({ mutationFn: signOut, onError: toastFailure });
  const own = organizations.find((one) => one.organizationId === organizationId);
  const isDone = seen !== undefined && (seen.authenticatorApp !== null || seen.passkeys.length > 0);
  const title = isDone ? words.isDone : words.title;
  const lead = isDone ? undefined : words.lead(own?.name ?? '');
  return (
    <OutsideFrame title={title} lead={lead} name={words.title}>
      {isDone && (
        <Button look="primary" onClick={() => void goOn()}>
          {words.goOn}
        </Button>
      )}
      <SecondFactor />
      <Passkeys />
      <Button look="ghost" disabled={leave.isPending} onClick={() => leave.mutate()}>
        {words.signOut}
      </Button>
    </OutsideFrame>
  );
}

// First password: the owner replaces the password that the first start printed, and continues.

export function FirstPassword() {
  const words = useWords(securityWords);
  const { to } = useSearch({ from: '/signed-in/first-password' });
  const goOn = useReturn(to);
  return (
    <OutsideFrame
      title={words.firstPassword}
      lead={words.firstPasswordLead}
      name={words.firstPassword}
    >
      <PasswordForm changed={goOn} />
    </OutsideFrame>
  );
}
