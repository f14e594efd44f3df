// Shell: side bar, top bar and connection bar around the screens of a workspace.
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { BookOpen, Building2, LogOut, Menu, Search, SunMoon, UserRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { openPalette } from '../palette/palette-state.ts';
import { Page, PathPlace } from '../../ui/page.tsx';
import {
  hasSession,
  isClosed,
  signOut,
  useAccount,
  useWorkspaceId,
  useWorkspaces,
} from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { shellWords } from './shell-words.ts';
import styles from './shell.module.css';
import { chooseTheme } from '../../ui/theme.ts';
import { late } from '../../ui/late.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import { type Place, placeGroups } from './navigation.ts';
import { useOpenAlarms } from './open-alarms.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';

/** Leads to the page for a second factor when the organization demands one from now on. */
export function Shell() {
  return isClosed(useAccount()) ? <Leave /> : <OpenShell />;
}

function Leave() {
  const navigate = useNavigate();
  const { href } = useLocation();
  useEffect(() => {
    void navigate({ to: '/second-factor', search: { to: href }, replace: true });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the address changes while it is left
  }, []);
  return null;
}

function OpenShell() {
  const words = useWords(shellWords);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#content">
        {words.skip}
      </a>
      <SideBar />
      <div className={styles['main']}>
        <TopBar placePath={setPlace} />
        <ConnectionBar />
        <main id="content" tabIndex={-1}>
          <PathPlace value={place}>
            <Outlet />
          </PathPlace>
        </main>
      </div>
      <BottomBar />
      <Tools />
    </div>
  );
}

// Top bar: where one is, and the way to everything else.

const controlKey = navigator.userAgent.includes('Mac OS') ? '⌘' : 'Ctrl';

/** `placePath` gets the element in which a page shows its path. */
function TopBar({ placePath }: { readonly placePath: (place: HTMLElement | null) => void }) {
  const words = useWords(shellWords);
  usePaletteKey();
  return (
    <header className={styles['top']}>
      <div
        className={`row gap-8 shrinks mute nowrap ${styles['crumb']}`}
        data-path="true"
        ref={placePath}
      />
      <span className="grow" />
      <ZoneNote />
      <button
        type="button"
        className={styles['search']}
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => openPalette()}
      >
        <Search aria-hidden="true" />
        <span>{words.search}</span>
        <kbd aria-hidden="true">{controlKey} K</kbd>
      </button>
      <span className={styles['bellPlace']}>
        <AlarmBell />
      </span>
    </header>
  );
}

/** Here and not with the other keys, so that the first press already counts; also in a field. */
function usePaletteKey(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isKey = (event.ctrlKey || event.metaKey) && event.key === 'k';
      if (!isKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      openPalette();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

// Side bar: the workspace and its places; on a phone a bar at the bottom with the most needed ones.

const home = '/w/$workspaceId';
const phonePlaces = ['', 'devices', 'alarms'];

function SideBar() {
  const words = useWords(shellWords);
  return (
    <nav className={styles['side']} aria-label={words.main}>
      <div className={styles['brand']}>
        <img src="/sun.svg" alt="" />
        Heliograph
      </div>
      <Sections />
    </nav>
  );
}

/** Every place, the workspaces, and what belongs to the user. */
function Sections() {
  const words = useWords(shellWords);
  return (
    <>
      <WorkspaceSwitch />
      {placeGroups.map((group) => (
        <PlaceGroupLinks key={group.word ?? group.places[0]?.path} group={group} />
      ))}
      <span className="grow" />
      <AccountLinks />
      <a className={styles['place']} href="/docs/guide">
        <BookOpen aria-hidden="true" />
        {words.guide}
      </a>
      <button type="button" className={styles['place']} onClick={flipTheme}>
        <SunMoon aria-hidden="true" />
        {words.theme}
      </button>
      <button
        type="button"
        className={styles['place']}
        onClick={() => void signOut().catch(toastFailure)}
      >
        <LogOut aria-hidden="true" />
        {words.signOut}
      </button>
    </>
  );
}

function AccountLinks() {
  const words = useWords(shellWords);
  const { organizationId } = useAccount();
  // The link leads to the first of several pages.
  const isOrganization = useLocation().pathname.startsWith('/o/');
  const className = styles['place'] ?? '';
  return (
    <>
      <Link
        className={className}
        to="/o/$organizationId/settings/members"
        params={{ organizationId }}
        aria-current={isOrganization ? 'page' : undefined}
      >
        <Building2 aria-hidden="true" />
        {words.organization}
      </Link>
      <Link className={className} to="/me">
        <UserRound aria-hidden="true" />
        {words.account}
      </Link>
    </>
  );
}

function PlaceGroupLinks({ group }: { readonly group: (typeof placeGroups)[number] }) {
  const words = useWords(shellWords);
  return (
    <>
      {group.word !== undefined && <p className={styles['group']}>{words[group.word]}</p>}
      {group.places.map((place) => (
        <PlaceLink key={place.path} place={place} className={styles['place']} />
      ))}
    </>
  );
}

function BottomBar() {
  const words = useWords(shellWords);
  const [isOpen, setOpen] = useState(false);
  const places = placeGroups.flatMap((group) => group.places);
  const shown = phonePlaces.flatMap((path) => places.find((place) => place.path === path) ?? []);
  return (
    <nav className={styles['bottom']} aria-label={words.main}>
      {shown.map((place) => (
        <PlaceLink key={place.path} place={place} className={undefined} />
      ))}
      <button type="button" aria-haspopup="dialog" onClick={() => openPalette()}>
        <Search aria-hidden="true" />
        {words.find}
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Menu aria-hidden="true" />
        {words.menu}
      </button>
      {isOpen && (
        <MenuDialog close={() => setOpen(false)}>
          <Sections />
        </MenuDialog>
      )}
    </nav>
  );
}

interface PlaceLinkProps {
  readonly place: Place;
  readonly className: string | undefined;
}

function PlaceLink({ place: { path, word, icon: Icon, counts }, className }: PlaceLinkProps) {
  const words = useWords(shellWords);
  const workspaceId = useWorkspaceId();
  return (
    <Link
      to={(path === '' ? home : `${home}/${path}`) as typeof home}
      params={{ workspaceId }}
      activeOptions={{ exact: path === '', includeSearch: false }}
      {...(className === undefined ? {} : { className })}
    >
      <Icon aria-hidden="true" />
      {words[word]}
      {counts === 'openAlarms' && <OpenAlarmCount />}
    </Link>
  );
}

function OpenAlarmCount() {
  const words = useWords(shellWords);
  const { count } = useFormats();
  const { total = 0 } = useOpenAlarms();
  if (total === 0) return null;
  return (
    <span className={`${styles['badge']} num`}>
      {count(total)}
      <span className="sr"> {words.open}</span>
    </span>
  );
}

function flipTheme(): void {
  chooseTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark');
}

// Workspace switch: opens another workspace of the organization, or creates one.

const createChoice = 'new';

const NewWorkspace = late('NewWorkspace', async () => {
  return (await import('../../screens/settings/new-workspace.tsx')).NewWorkspace;
});

function WorkspaceSwitch() {
  const words = useWords(shellWords);
  const workspaces = useWorkspaces();
  const workspaceId = useWorkspaceId();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const choose = (chosen: string) => {
    if (chosen === createChoice) setCreating(true);
    else void navigate({ to: '/w/$workspaceId', params: { workspaceId: chosen } });
  };
  return (
    <>
      <label className={styles['workspace']}>
        <span className="sr">{words.workspace}</span>
        <select value={workspaceId} onChange={({ target }) => choose(target.value)}>
          {workspaces.data?.content.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <CreateOption />
        </select>
      </label>
      {isCreating && <NewWorkspace close={() => setCreating(false)} />}
    </>
  );
}

/** Without the permission it is seen, but cannot be chosen. */
function CreateOption() {
  const words = useWords(shellWords);
  const { organizationId, organizations } = useAccount();
  const own = organizations.find((one) => one.organizationId === organizationId);
  const mayCreate = own?.permissions['workspace']?.includes('create') === true;
  return (
    <>
      <hr />
      <option value={createChoice} disabled={!mayCreate}>
        {words.newWorkspace}
      </option>
    </>
  );
}

// Pages without a screen: an unknown address, and a member without a workspace.

export function NotFound() {
  const words = useWords(shellWords);
  return (
    <Page title={words.notFound} name={words.notFound} path={[words.notFound]}>
      <Empty
        title={words.notFound}
        note={words.notFoundNote}
        actions={
          <ButtonLink to="/" look="primary">
            {words.goHome}
          </ButtonLink>
        }
      />
    </Page>
  );
}

// No workspace: shown to a member of the organization who is in none of its workspaces.

export function NoWorkspace() {
  const words = useWords(shellWords);
  return (
    <main>
      <Empty title={words.noWorkspace} note={words.noWorkspaceNote} />
    </main>
  );
}

// Late tools: what the shell needs but not to show the first page, asked for together with the first data.

// So early that keys work as soon as there are rows.
const load = () => import('./tools.tsx');
const early = hasSession() ? load() : undefined;
const tools = () => early ?? load();

const Tools = late('Tools', async () => (await tools()).Tools);
const ConnectionBar = late('ConnectionBar', async () => (await tools()).ConnectionBar);
const ZoneNote = late('ZoneNote', async () => (await tools()).ZoneNote);
const AlarmBell = late('AlarmBell', async () => (await tools()).AlarmBell);
const MenuDialog = late('MenuDialog', async () => (await tools()).MenuDialog);
