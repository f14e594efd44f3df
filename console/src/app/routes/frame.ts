// Frame of the routes: the sign-in, the session check, and the shell around every screen.
import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { answers } from '../../api/answers.ts';
import { loadCode } from '../../api/missing-code.ts';
import { Refusal } from '../../api/platform.ts';
import { firstRunOf } from '../../session/first-run.ts';
import {
  account,
  hasSession,
  isClosed,
  lastWorkspace,
  rememberWorkspace,
  workspacesOf,
} from '../../session/session.ts';
import { NotFound, NoWorkspace, Shell } from '../shell/shell.tsx';
import { readMoment } from '../../ui/list-search.ts';
import { laterRoutes } from './later-routes.ts';

// Screen: a component whose code is loaded when its route is opened; what is missing is told in its place.

export const screen: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadCode(String(name), load), name);

/** The search that a page reads, and nothing else: the router would leave what it does not read as it was sent. */
export const onlyRead =
  <T extends object>(read: (search: Record<string, unknown>) => T) =>
  (search: Record<string, unknown>): T => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

export const root = createRootRoute();

export const signInScreen = screen(() => import('../../screens/sign-in/sign-in.tsx'), 'SignIn');

interface SignInSearch {
  /** Where to continue. */
  readonly to?: string;
  /** Why the provider led to no session. */
  readonly problem?: string;
}

export const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: signInScreen,
  validateSearch: ({ to, problem }: Record<string, unknown>): SignInSearch => ({
    ...(typeof to === 'string' && { to }),
    ...(typeof problem === 'string' && { problem }),
  }),
});

/**
 * Throws a redirect to the sign-in, which leads back here, or to the page where a user replaces the
 * generated password or gets the second factor that the organization demands.
 */
async function requireSession({ href, pathname }: { href: string; pathname: string }) {
  const own = await sessionAccount(href);
  if (own.passwordChangeRequired === true) {
    if (pathname === firstPasswordPath) return;
    redirect({ to: firstPasswordPath, search: { to: href }, throw: true });
  }
  const isEnrolled = !isClosed(own);
  if (isEnrolled || pathname === enrolmentPath) return;
  redirect({ to: enrolmentPath, search: { to: href }, throw: true });
}

const enrolmentPath = '/second-factor';
const firstPasswordPath = '/first-password';

async function sessionAccount(to: string) {
  const back = { to: '/sign-in', search: to === '/' ? {} : { to }, throw: true } as const;
  if (!hasSession()) redirect(back);
  try {
    return await answers.ensureQueryData(account);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) redirect(back);
    throw error;
  }
}

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: ({ location }) => requireSession(location),
});

export const enrolment = createRoute({
  getParentRoute: () => signedIn,
  path: enrolmentPath,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } =>
    typeof to === 'string' ? { to } : {},
  beforeLoad: async () => {
    if (!isClosed(await answers.ensureQueryData(account))) redirect({ to: '/', throw: true });
  },
  component: screen(() => import('../../screens/account/account.tsx'), 'Enrolment'),
});

export const firstPassword = createRoute({
  getParentRoute: () => signedIn,
  path: firstPasswordPath,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } =>
    typeof to === 'string' ? { to } : {},
  beforeLoad: async () => {
    const { passwordChangeRequired } = await answers.ensureQueryData(account);
    if (passwordChangeRequired !== true) redirect({ to: '/', throw: true });
  },
  component: screen(() => import('../../screens/account/account.tsx'), 'FirstPassword'),
});

/** The last workspace that was open, else the first; undefined when none is in reach. */
async function chosenWorkspace(): Promise<string | undefined> {
  const { organizationId } = await answers.ensureQueryData(account);
  const { content } = await answers.ensureQueryData(workspacesOf(organizationId));
  return (content.find(({ id }) => id === lastWorkspace()) ?? content[0])?.id;
}

export const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const workspaceId = await chosenWorkspace();
    if (workspaceId === undefined) return;
    rememberWorkspace(workspaceId);
    const search = await firstRunOf(workspaceId);
    if (search !== undefined) redirect({ to: '/welcome', search, throw: true });
    redirect({ to: '/w/$workspaceId', params: { workspaceId }, throw: true });
  },
  component: NoWorkspace,
});

export const shell = createRoute({ getParentRoute: () => signedIn, id: 'shell', component: Shell });

export const welcome = createRoute({
  getParentRoute: () => shell,
  path: '/welcome',
  validateSearch: ({ device }: Record<string, unknown>): { device?: string } =>
    typeof device === 'string' ? { device } : {},
  beforeLoad: async () => {
    const workspaceId = await chosenWorkspace();
    if (workspaceId === undefined) redirect({ to: '/', throw: true });
    else rememberWorkspace(workspaceId);
  },
  component: screen(() => import('../../screens/welcome/welcome.tsx'), 'Welcome'),
});

export const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/w/$workspaceId',
  beforeLoad: ({ params }) => rememberWorkspace(params.workspaceId),
});

export const homeScreen = screen(() => import('../../screens/home/home.tsx'), 'Home');

export const home = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  validateSearch: onlyRead(readMoment),
  component: homeScreen,
});

// Elsewhere: addresses that no route has, either because it is one of those that are loaded later or
// because there is no such page.

export const elsewhere = createRoute({
  getParentRoute: () => shell,
  path: '$',
  beforeLoad: ({ location }) => continueWithAllRoutes(location),
  component: NotFound,
});

/** The same for addresses that need no account. */
export const sharedElsewhere = createRoute({
  getParentRoute: () => root,
  path: '/shared/$',
  beforeLoad: ({ location }) => continueWithAllRoutes(location),
  component: NotFound,
});

/** An address may have been looked up before its route was there: it is looked up again. */
async function continueWithAllRoutes({ href, pathname }: { href: string; pathname: string }) {
  await laterRoutes.add();
  if (laterRoutes.haveScreenAt(pathname)) redirect({ href, replace: true, throw: true });
}

// Routes of mailed links: accept an invitation, ask for a new password and choose it. None needs a session.

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'Invitation'),
});

const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-reset',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'Forgotten'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/password-reset/$token',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'NewPassword'),
});

export const accessRoutes = [invitation, forgotten, newPassword] as const;
