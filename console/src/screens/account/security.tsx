// Security: how the signed-in user signs in, and where this is the case.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { aboutQuery } from '../../api/about.ts';
import { ask, platform } from '../../api/platform.ts';
import { Refusal } from '../../api/refusal.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../ui/data-table.tsx';
import { Answered } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { signOutEverywhere } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { AccountPage } from './account-page.tsx';
import { browserNameOf } from './browser-name.ts';
import { Passkeys } from './passkeys.tsx';
import { PasswordDialog, PasswordForm } from './password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { securityWords } from './account-words.ts';
import styles from './security.module.css';

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
    <div className={styles['buttons']}>
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
