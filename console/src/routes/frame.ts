// Frame of the routes: the sign-in, the session check, and the shell around every screen.
import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { answers } from '../api/answers.ts';
import { Refusal } from '../api/refusal.ts';
import { lastWorkspace, rememberWorkspace } from '../session/last-workspace.ts';
import { account, hasSession, workspacesOf } from '../session/session.ts';
import { NoWorkspace } from '../shell/no-workspace.tsx';
import { NotFound } from '../shell/not-found.tsx';
import { Shell } from '../shell/shell.tsx';

export const root = createRootRoute({ notFoundComponent: NotFound });

export const signInScreen = lazyRouteComponent(
  () => import('../screens/sign-in/sign-in.tsx'),
  'SignIn',
);

export const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: signInScreen,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } =>
    typeof to === 'string' ? { to } : {},
});

/** Throws a redirect to the sign-in, which leads back here. */
async function requireSession(to: string) {
  const back = { to: '/sign-in', search: to === '/' ? {} : { to }, throw: true } as const;
  if (!hasSession()) return redirect(back);
  try {
    return await answers.ensureQueryData(account);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return redirect(back);
    throw error;
  }
}

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: ({ location }) => requireSession(location.href),
});

export const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const { organizationId } = await answers.ensureQueryData(account);
    const { content } = await answers.ensureQueryData(workspacesOf(organizationId));
    const chosen = content.find(({ id }) => id === lastWorkspace()) ?? content[0];
    if (chosen === undefined) return;
    redirect({ to: '/w/$workspaceId', params: { workspaceId: chosen.id }, throw: true });
  },
  component: NoWorkspace,
});

export const shell = createRoute({ getParentRoute: () => signedIn, id: 'shell', component: Shell });

export const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/w/$workspaceId',
  beforeLoad: ({ params }) => rememberWorkspace(params.workspaceId),
  notFoundComponent: NotFound,
});
