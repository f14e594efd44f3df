// Routes of mailed links: accept an invitation, ask for a new password and choose it. None needs a session.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './frame.ts';

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: lazyRouteComponent(() => import('../screens/access/invitation.tsx'), 'Invitation'),
});

const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-reset',
  component: lazyRouteComponent(() => import('../screens/access/forgotten.tsx'), 'Forgotten'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/password-reset/$token',
  component: lazyRouteComponent(() => import('../screens/access/new-password.tsx'), 'NewPassword'),
});

export const accessRoutes = [invitation, forgotten, newPassword] as const;
